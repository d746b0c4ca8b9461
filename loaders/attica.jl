"""
Reads the run folders of attica. Standard library only; rows go straight into `DataFrame(rows)`.

    include("attica.jl")
    run = Attica.find("mine")
    filter(r -> r.kind == "sim" && r.series == "test_error", Attica.results(run))
"""
module Attica

using DelimitedFiles: readdlm

"""
The newest run folder called `name` below `out`, `name-` and the eight digits of its hash; `name` may also be the path of a
run.
"""
function find(name, out = "runs")
    isfile(joinpath(name, "run.json")) && return name
    folders = isdir(out) ? readdir(out; join = true) : String[]
    ours(f) = startswith(f, name * "-") && occursin(r"^[0-9a-f]{8}$", chop(f; head = length(name) + 1, tail = 0))
    runs = filter(f -> ours(basename(f)) && isfile(joinpath(f, "run.json")), folders)
    isempty(runs) && error("no run '$name' in '$out'")
    return argmax(run -> mtime(joinpath(run, "run.json")), runs)
end

"""
Theory and simulation: named tuples with study, series, kind ("theory" or "sim"), the coordinates of the point, x_name, x,
mean, sem, sd, n. Where there is none (the spread of a theory, say) the value is `missing`.
"""
results(run) = table(joinpath(run, "results.csv"))

"""Every replicate: named tuples with study, series, the coordinates of the point, x_name, x, replicate (from 0), value."""
replicates(run) = table(joinpath(run, "replicates.csv"))

"""
A JSON record as dictionaries and vectors: "check" (the verdict, point by point), "theory" (with allowances and
diagnostics), "run" or "provenance". Null is `nothing`.
"""
record(run, name = "check") = json(read(joinpath(run, name * ".json"), String))

function table(path)
    cells, header = readdlm(path, ',', Any, '\n'; header = true)
    names = Tuple(Symbol.(vec(header)))
    present(cell) = cell == "" ? missing : cell
    return [NamedTuple{names}(Tuple(present.(row))) for row in eachrow(cells)]
end

"""JSON text as dictionaries and vectors: cut into tokens, then one value at a time."""
function json(text)
    tokens = [m.match for m in eachmatch(r"\"(?:[^\"\\]++|\\.)*+\"|[\[\]{}:,]|[^\[\]{}:,\"\s]+", text)]
    at = 0
    take() = tokens[at += 1]
    string(token) = unescape_string(chop(token; head = 1, tail = 1))
    function value(token)
        if token == "{"
            fields = Dict{String,Any}()
            while (key = take()) != "}"
                key == "," && (key = take())
                take()  # the colon
                fields[string(key)] = value(take())
            end
            return fields
        elseif token == "["
            items = []
            while (item = take()) != "]"
                item == "," || push!(items, value(item))
            end
            return items
        end
        startswith(token, '"') && return string(token)
        token == "null" && return nothing
        token in ("true", "false") && return token == "true"
        return parse(Float64, token)
    end
    return value(take())
end

end
