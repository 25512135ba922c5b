# Prints the values of tests/image/test_metrics.c with scikit-image 0.26.0, an implementation of SSIM that is
# not ours.
import numpy as np
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

y, x, c = np.mgrid[0:37, 0:53, 0:3]
a = ((x * 7 + y * 13 + c * 5 + x * y) % 64) / 63.0
b = ((x * 7 + y * 13 + c * 5 + x * y + (x * x + 3 * y) % 9) % 64) / 63.0
a, b = a.astype(np.float32).astype(float), b.astype(np.float32).astype(float)
for p, q in ((a, b), (a, 0.5 * a + 0.2), (a, 1 - a)):
    q = q.astype(np.float32).astype(float)
    similarity = structural_similarity(p, q, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
                                       data_range=1.0, channel_axis=-1)
    print("{%.10f, %.10f}," % (similarity, peak_signal_noise_ratio(p, q, data_range=1.0)))
