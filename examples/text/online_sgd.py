"""Online SGD of g(w.x/sqrt N) = erf(w.x/sqrt(2 N)) on a teacher of the same kind; a fresh sample every step."""
import math
import sys

import numpy as np

rate, inputs, seed = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(seed)
teacher = rng.normal(size=inputs)
teacher *= math.sqrt(inputs) / np.linalg.norm(teacher)
student = rng.normal(size=inputs)
student -= student @ teacher / inputs * teacher
student *= math.sqrt(0.25 * inputs) / np.linalg.norm(student)
print("series,t,value")
step = 0
for t in (0.5, 1.0, 2.0, 4.0, 8.0):
    for x in rng.normal(size=(round(t * inputs) - step, inputs)):
        h, field = student @ x / math.sqrt(inputs), teacher @ x / math.sqrt(inputs)
        slope = math.sqrt(2 / math.pi) * math.exp(-h * h / 2)
        delta = math.erf(field / math.sqrt(2)) - math.erf(h / math.sqrt(2))
        student += rate * delta * slope * x / math.sqrt(inputs)
    step = round(t * inputs)
    R, Q = student @ teacher / inputs, student @ student / inputs
    error = (math.asin(Q / (1 + Q)) + math.pi / 6 - 2 * math.asin(R / math.sqrt(2 * (1 + Q)))) / math.pi
    print(f"error,{t},{error}\nR,{t},{R}")
