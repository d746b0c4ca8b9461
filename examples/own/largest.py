"""Prints the largest of N standard normal numbers as a table.   largest.py N SEED"""

import random
import sys

count, seed = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(seed)
print("series,value")
print(f"largest,{max(draw.gauss(0, 1) for _ in range(count))}")
