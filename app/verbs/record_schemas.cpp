#include "attica/app/verbs/record_schemas.hpp"

#include <algorithm>
#include <array>

namespace attica::app {
namespace {

struct RecordSchema {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<RecordSchema, 7> kSchemas{{
    {"audit", R"json({
  "title": "attica audit --json: published tables judged again",
  "type": "object",
  "required": ["schema", "audits", "as_expected", "entries"],
  "properties": {
    "schema": {"const": "attica/audit/1"},
    "audits": {"type": "integer", "minimum": 1},
    "as_expected": {"type": "integer", "minimum": 0},
    "entries": {"type": "array", "items": {"type": "object",
      "required": ["name", "file", "claim", "source", "used", "verdict", "expected", "as_expected",
                   "resolution", "margin", "summary", "finding", "remarks", "run"],
      "properties": {
        "name": {"type": "string", "description": "the entry's folder"},
        "file": {"type": "string", "description": "its audit.toml"},
        "claim": {"type": "string", "description": "what the publication says"},
        "source": {"type": "string"}, "used": {"type": "string"},
        "verdict": {"enum": ["AGREE", "DISAGREE", "INCONCLUSIVE", "CLAIMS HOLD", "NONE"]},
        "expected": {"enum": ["AGREE", "DISAGREE", "INCONCLUSIVE"]},
        "as_expected": {"type": "boolean"},
        "resolution": {"type": ["number", "null"],
          "description": "of AGREE: smallest relative error of the theory that would not have ended in it, with probability 0.9"},
        "margin": {"type": "number", "description": "widest relative margin"},
        "summary": {"type": "string"},
        "finding": {"type": "string", "description": "what the verdict says of these tables"},
        "remarks": {"type": "array", "items": {"type": "string"}, "description": "how the tables were read"},
        "run": {"type": "string", "description": "the run's folder"}}}}
  }
})json"},
    {"check", R"json({
  "title": "check.json: the verdict of a run, point by point",
  "type": "object",
  "required": ["schema", "study", "run", "verdict", "margin", "rules", "family", "counts", "points",
               "claims", "controls", "diagnostics", "summary"],
  "properties": {
    "schema": {"const": "attica/check/1"},
    "study": {"type": "string"},
    "run": {"type": "string", "description": "the run's folder"},
    "verdict": {"$ref": "#/$defs/verdict"},
    "margin": {"type": ["number", "string"], "description": "relative margin, if all series share it"},
    "rules": {"type": "array", "items": {"type": "object",
      "required": ["series", "relative", "absolute"],
      "properties": {"series": {"type": "string"}, "relative": {"type": "number", "minimum": 0},
                     "absolute": {"type": "number", "minimum": 0}}}},
    "post_hoc_margin": {"type": "boolean", "description": "the margin was chosen after the run"},
    "family": {"type": "string", "description": "correction for several points"},
    "counts": {"type": "object",
      "required": ["compared", "agree", "disagree", "inconclusive", "failed", "no_theory", "not_compared"],
      "additionalProperties": {"type": "integer", "minimum": 0}},
    "points": {"type": "array", "items": {"$ref": "#/$defs/point"}},
    "claims": {"type": "array", "items": {"type": "object",
      "required": ["name", "statement", "verdict", "detail", "refutable"],
      "properties": {"name": {"type": "string"}, "statement": {"type": "string"},
        "verdict": {"$ref": "#/$defs/verdict"}, "detail": {"type": "string"},
        "refutable": {"type": "boolean", "description": "some data would have refuted it"},
        "p_agree": {"$ref": "#/$defs/probability"}, "p_disagree": {"$ref": "#/$defs/probability"},
        "replicates_needed": {"type": "integer", "minimum": 1}}}},
    "controls": {"type": "array", "description": "series that watch the simulation's code",
      "items": {"type": "object", "required": ["series", "verdict", "compared", "agree"],
        "properties": {"series": {"type": "string"}, "verdict": {"$ref": "#/$defs/verdict"},
          "compared": {"type": "integer"}, "agree": {"type": "integer"},
          "worst": {"$ref": "#/$defs/point"}}}},
    "diagnostics": {"type": "object"},
    "worst_point": {"type": "integer", "minimum": 0, "description": "index in points"},
    "largest_detectable_gap": {"type": ["number", "null"]},
    "resolution": {"type": "array",
      "description": "relative errors of a series' theory that would not have ended in AGREE, or would have ended in DISAGREE, with probability 0.9; of the harder sign",
      "items": {"type": "object", "required": ["series", "not_agree", "disagree", "lower", "higher", "coarsest_third", "parts"],
        "properties": {"series": {"type": "string"},
          "not_agree": {"type": ["number", "null"]}, "disagree": {"type": ["number", "null"]},
          "lower": {"$ref": "#/$defs/resolution"}, "higher": {"$ref": "#/$defs/resolution"},
          "coarsest_third": {"$ref": "#/$defs/resolution"},
          "parts": {"type": "array", "items": {"$ref": "#/$defs/resolution"}}}}},
    "coarsest_resolution": {"type": ["number", "null"]},
    "stopping": {"type": "object", "required": ["rule", "cap", "replicates"]},
    "perturbed": {"type": "array", "items": {"type": "string"}, "description": "what was changed in the theory"},
    "edited": {"type": "array", "items": {"type": "string"}, "description": "files that were edited after the run"},
    "not_compared": {"type": "array", "items": {"$ref": "#/$defs/place"}},
    "not_compared_because": {"type": "string"},
    "incomplete": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/place"},
      {"required": ["failed", "replicates"]}]}},
    "expected": {"type": "object", "additionalProperties": {"type": "integer"}},
    "without_margin": {"type": "array", "items": {"type": "string"}},
    "unmatched": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/place"}, {"required": ["reason"]}]}},
    "partial": {"type": "boolean"},
    "copies": {"type": "object", "required": ["copies", "replicates"]},
    "equal_to_theory": {"type": "boolean"},
    "wide_errors": {"type": "integer"},
    "serial_correlation": {"type": "object", "required": ["correlation", "p", "factor", "correlated"]},
    "looks": {"type": "array", "items": {"type": "integer"}},
    "likely_cause": {"type": "string"},
    "summary": {"type": "string"}
  },
  "$defs": {
    "verdict": {"enum": ["AGREE", "DISAGREE", "INCONCLUSIVE", "CLAIMS HOLD", "NONE"]},
    "probability": {"type": "number", "minimum": 0, "maximum": 1},
    "resolution": {"type": "object", "required": ["not_agree", "disagree"],
      "properties": {"not_agree": {"type": ["number", "null"]}, "disagree": {"type": ["number", "null"]}}},
    "place": {"type": "object", "required": ["series", "point", "x_name", "x"],
      "properties": {"series": {"type": "string"},
        "point": {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
        "x_name": {"type": "string"}, "x": {"type": "number"}}},
    "point": {"allOf": [{"$ref": "#/$defs/place"}, {"type": "object",
      "required": ["mean", "sem", "n", "verdict", "difference", "margin", "margin_terms", "tails",
                   "p_agree", "p_disagree", "p_disagree_adjusted"],
      "properties": {
        "mean": {"type": ["number", "null"]}, "theory": {"type": ["number", "null"]},
        "sem": {"type": ["number", "null"]}, "n": {"type": "integer", "minimum": 0},
        "verdict": {"$ref": "#/$defs/verdict"},
        "difference": {"type": ["number", "null"], "description": "simulation minus theory"},
        "margin": {"type": ["number", "null"]},
        "margin_terms": {"type": "object", "required": ["absolute", "relative", "finite_size", "numerical_error"],
          "additionalProperties": {"type": ["number", "null"]}},
        "tails": {"enum": ["rate", "normal", "guarded"]},
        "p_agree": {"$ref": "#/$defs/probability"}, "p_disagree": {"$ref": "#/$defs/probability"},
        "p_disagree_adjusted": {"$ref": "#/$defs/probability"},
        "skewness": {"type": ["number", "null"]}, "guard_share": {"type": ["number", "null"]},
        "interval90": {"type": "array", "items": {"type": ["number", "null"]}, "minItems": 2, "maxItems": 2},
        "z": {"type": ["number", "null"]},
        "replicates_needed": {"type": ["integer", "number", "string"]},
        "reason": {"type": "string"}, "warning": {"type": "string"}}}]}
  }
})json"},
    {"manifest", R"json({
  "title": "manifest.json: SHA-256 of the files of a run",
  "type": "object",
  "required": ["schema", "files"],
  "properties": {
    "schema": {"const": "attica/manifest/1"},
    "files": {"type": "object", "additionalProperties": {"type": "object",
      "required": ["sha256", "size"],
      "properties": {"sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                     "size": {"type": "integer", "minimum": 0}}}}
  }
})json"},
    {"metrics", R"json({
  "title": "the file of --metrics: a verdict in a few numbers",
  "type": "object",
  "required": ["schema", "verdict", "compared", "agree", "disagree", "inconclusive", "resolution"],
  "properties": {
    "schema": {"const": "attica/metrics/1"},
    "verdict": {"enum": ["AGREE", "DISAGREE", "INCONCLUSIVE", "CLAIMS HOLD", "NONE"]},
    "compared": {"type": "integer", "minimum": 0, "description": "points"},
    "agree": {"type": "integer", "minimum": 0}, "disagree": {"type": "integer", "minimum": 0},
    "inconclusive": {"type": "integer", "minimum": 0},
    "resolution": {"type": ["number", "null"],
      "description": "smallest relative error of the theory that would not have ended in AGREE, with probability 0.9, in the coarsest series; 0 where the theory as it stands does not"}
  }
})json"},
    {"provenance", R"json({
  "title": "provenance.json: what made a run",
  "type": "object",
  "required": ["schema", "attica", "revision", "compiler", "build_type", "libraries", "system", "host",
               "processors", "threads", "started", "command", "inputs"],
  "properties": {
    "schema": {"const": "attica/provenance/1"},
    "attica": {"type": "string", "description": "version"},
    "revision": {"type": "string", "description": "of the source, with -dirty if it was edited"},
    "compiler": {"type": "string"}, "build_type": {"type": "string"}, "native": {"type": "string"},
    "libraries": {"type": "string"}, "system": {"type": "string"}, "host": {"type": "string"},
    "processors": {"type": "integer", "minimum": 0}, "threads": {"type": "integer", "minimum": 1},
    "started": {"type": "string", "format": "date-time"},
    "command": {"type": "array", "items": {"type": "string"}},
    "inputs": {"type": "object", "description": "SHA-256 of every file that was read"},
    "command_versions": {"type": "object"}
  }
})json"},
    {"run", R"json({
  "title": "run.json: what a run is and how far it is",
  "type": "object",
  "required": ["schema", "format", "study", "name", "hash", "seed", "replicates", "pieces", "family",
               "agreement", "complete", "data_hash"],
  "properties": {
    "schema": {"const": "attica/run/1"},
    "format": {"type": "integer", "description": "of the folder's tables"},
    "study": {"type": "string"}, "name": {"type": "string"},
    "hash": {"type": "string", "description": "of all that can change a number"},
    "data_hash": {"type": "string", "description": "of all that can change a replicate"},
    "seed": {"type": "integer", "minimum": 0}, "replicates": {"type": "integer", "minimum": 1},
    "pieces": {"type": "integer", "minimum": 0}, "family": {"type": "string"},
    "agreement": {"type": "array", "description": "margins, as declared before the run", "items": {"type": "object",
      "required": ["series", "relative", "absolute", "tails", "deterministic"],
      "properties": {"series": {"type": "string"}, "relative": {"type": "number", "minimum": 0},
        "absolute": {"type": "number", "minimum": 0}, "tails": {"enum": ["guarded", "normal"]},
        "deterministic": {"type": "boolean"}, "control": {"const": true}}}},
    "complete": {"type": "boolean"},
    "cap": {"type": "integer", "minimum": 1},
    "expected": {"type": "object", "additionalProperties": {"type": "integer"}},
    "looks": {"type": "array", "items": {"type": "integer"}},
    "shard": {"type": "object", "required": ["index", "count"]},
    "perturbed": {"type": "array", "items": {"type": "string"}},
    "values": {"type": "integer", "description": "in replicates.csv"},
    "statuses": {"type": "object", "additionalProperties": {"type": "integer"}}
  }
})json"},
    {"theory", R"json({
  "title": "theory.json: predictions with their tolerances",
  "type": "object",
  "required": ["schema", "predictions", "diagnostics"],
  "properties": {
    "schema": {"const": "attica/theory/1"},
    "predictions": {"type": "array", "items": {"type": "object",
      "required": ["name", "point", "x_name", "x", "y"],
      "properties": {
        "name": {"type": "string", "description": "series"},
        "point": {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
        "x_name": {"type": "string"},
        "x": {"type": "array", "items": {"type": "number"}},
        "y": {"type": "array", "items": {"type": "number"}, "description": "one value for each x"},
        "finite_size": {"type": "array", "items": {"type": "number", "minimum": 0}, "description": "tolerance for finite size, step or batch"},
        "numerical_error": {"type": "array", "items": {"type": "number", "minimum": 0}},
        "compared": {"type": "array", "items": {"type": "boolean"}}}}},
    "diagnostics": {"type": "object"}
  }
})json"},
}};

}  // namespace

std::vector<std::string> record_names() {
  std::vector<std::string> names;
  for (const RecordSchema& schema : kSchemas) names.emplace_back(schema.name);
  return names;
}

std::optional<Json> record_schema(std::string_view name) {
  const auto* found = std::ranges::find(kSchemas, name, &RecordSchema::name);
  if (found == kSchemas.end()) return std::nullopt;
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  schema.update(Json::parse(found->text));
  return schema;
}

}  // namespace attica::app
