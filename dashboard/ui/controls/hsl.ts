// Converts colors between hexadecimal text and hue, saturation and lightness (https://www.w3.org/TR/css-color-4/#hsl-to-rgb).

export interface Hsl {
  /** 0 to 359 */
  hue: number
  /** 0 to 100, as the lightness */
  saturation: number
  lightness: number
}

export function toHsl(hex: string): Hsl {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(
    (at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255,
  )
  const max = Math.max(red, green, blue)
  const range = max - Math.min(red, green, blue)
  const lightness = max - range / 2
  const turn =
    range === 0
      ? 0
      : max === red
        ? (green - blue) / range
        : max === green
          ? (blue - red) / range + 2
          : (red - green) / range + 4
  const saturation = range === 0 ? 0 : range / (1 - Math.abs(2 * lightness - 1))
  return {
    hue: Math.round(turn * 60 + 360) % 360,
    saturation: Math.round(saturation * 100),
    lightness: Math.round(lightness * 100),
  }
}

export function toHex({ hue, saturation, lightness }: Hsl): string {
  const light = lightness / 100
  const amount = (saturation / 100) * Math.min(light, 1 - light)
  const channels = [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12
    return light - amount * Math.max(-1, Math.min(k - 3, 9 - k, 1))
  })
  return `#${channels
    .map((channel) =>
      Math.round(channel * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}
