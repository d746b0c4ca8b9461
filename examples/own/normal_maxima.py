"""Mean over 400 draws of the largest of n standard normal numbers, for every n: one replicate."""

import random
import sys

random.seed(int(sys.argv[1]))
DRAWS = 400
print("series,n,value")
for n in (2, 3, 5, 10, 20, 30, 50, 100):
    total = sum(max(random.gauss(0, 1) for _ in range(n)) for _ in range(DRAWS))
    print(f"largest,{n},{total / DRAWS}")
