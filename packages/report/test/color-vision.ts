// Colour arithmetic for the limits of the palette: sRGB (IEC 61966-2-1), OKLab (B. Ottosson, 2020), contrast (WCAG 2.2),
// and colour-vision deficiency at full strength (G. M. Machado et al., IEEE TVCG 15(6), 2009).

type Triple = readonly [number, number, number];

export type Vision = 'normal' | 'protanopia' | 'deuteranopia' | 'tritanopia' | 'grey';

const deficiency: Readonly<Record<'protanopia' | 'deuteranopia' | 'tritanopia', readonly Triple[]>> = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function linear(hex: string): Triple {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

function luminance(color: Triple): number {
  return dot([0.2126, 0.7152, 0.0722], color);
}

function seen(color: Triple, vision: Vision): Triple {
  if (vision === 'normal') return color;
  if (vision === 'grey') {
    const y = luminance(color);
    return [y, y, y];
  }
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  const [r, g, b] = deficiency[vision];
  return [clamp(dot(r, color)), clamp(dot(g, color)), clamp(dot(b, color))];
}

function okLab(color: Triple): Triple {
  const lms: Triple = [
    Math.cbrt(dot([0.4122214708, 0.5363325363, 0.0514459929], color)),
    Math.cbrt(dot([0.2119034982, 0.6806995451, 0.1073969566], color)),
    Math.cbrt(dot([0.0883024619, 0.2817188376, 0.6299787005], color)),
  ];
  return [
    dot([0.2104542553, 0.793617785, -0.0040720468], lms),
    dot([1.9779984951, -2.428592205, 0.4505937099], lms),
    dot([0.0259040371, 0.7827717662, -0.808675766], lms),
  ];
}

/** Difference of two colours as they are seen, in hundredths of OKLab. */
export function difference(a: string, b: string, vision: Vision): number {
  const [first, second] = [a, b].map((hex) => okLab(seen(linear(hex), vision)));
  return 100 * Math.hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

/** Contrast ratio of two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
