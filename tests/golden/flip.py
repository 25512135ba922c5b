# Prints the values of tests/engine/light/test_light_scenes.c with flip-evaluator 1.7, FLIP by its authors.
import flip_evaluator
import numpy as np

y, x, c = np.mgrid[0:72, 0:96, 0:3]
a = (x * 7 + y * 13 + c * 5 + x * y // 16) % 64
b = (x * 7 + y * 13 + c * 5 + x * y // 16 + (x * x + 3 * y) % 9) % 64
a, b = (p.astype(np.float32) / np.float32(63.0) for p in (a, b))
for other in (b, 0.5 * a + 0.2, 1 - a):
    _, mean, _ = flip_evaluator.evaluate(a, other.astype(np.float32), "LDR")
    print("%.6f" % mean)
