"""Prints the largest of N standard normal numbers for every seed, as a table.   largest.py N SEED,SEED,..."""

import random
import sys

print("series,replicate,value")
for place, seed in enumerate(sys.argv[2].split(",")):
    draw = random.Random(int(seed))
    print(f"largest,{place},{max(draw.gauss(0, 1) for _ in range(int(sys.argv[1])))}")
