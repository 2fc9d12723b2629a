// Contrast of colors (https://www.w3.org/TR/WCAG22/#contrast-minimum).

/** For text of usual size. */
export const CONTRAST_MIN = 4.5

const WHITE = [255, 255, 255] as const
/** The card of a page in the dark scheme. */
const DARK_CARD = [27, 33, 30] as const

type Rgb = readonly [number, number, number]

const parse = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb
const format = (color: Rgb) =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

function luminance(color: Rgb): number {
  const [r, g, b] = color.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** @param hex `#rrggbb` */
export const contrastWithWhite = (hex: string) => contrast(parse(hex), WHITE)

/** The nearest color of the same hue, on the way to `to`, that can be read on `background`. */
function move(color: Rgb, to: Rgb, background: Rgb): string {
  for (let part = 0; part <= 1; part += 0.02) {
    const moved = parse(
      format(color.map((value, at) => value + ((to[at] as number) - value) * part) as unknown as Rgb),
    )
    if (contrast(moved, background) >= CONTRAST_MIN) return format(moved)
  }
  return format(to)
}

/** @returns the nearest darker color on which white text can be read */
export const toDarker = (hex: string) => move(parse(hex), [0, 0, 0], WHITE)

/** @returns the nearest lighter color that can be read in the dark scheme */
export const toLighter = (hex: string) => move(parse(hex), WHITE, DARK_CARD)
