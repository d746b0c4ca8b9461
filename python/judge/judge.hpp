#pragma once
/// @file
/// @brief The judge alone, as a C function: verdicts and plans for arrays, without the studies.
///
/// What stands here and what it is linked with is under licences that any program may use: no GSL.

extern "C" {

/// @brief Answers a request, both JSON.
///
/// {"verb": "judge", "theory": [...], "replicates": [[...], ...]} with, each optional, "x",
/// "margin" (relative), "absolute", "finite_size" and "numerical_error" (a number each, or one a
/// point), "tails" ("guarded", "normal", "rate") and "independent": what `attica judge` writes as
/// check.json, and "text", what it prints. A replicate that is null counts as failed.
///
/// {"verb": "plan", "margin", "sd"} with "difference", "power" and "points": {"replicates"}, null
/// if no number is enough.
/// @return {"error": a sentence} for a request that it refuses; to be given to attica_judge_free
[[gnu::visibility("default")]] char* attica_judge(const char* request);

[[gnu::visibility("default")]] void attica_judge_free(char* answer);

[[gnu::visibility("default")]] const char* attica_judge_version();
}
