// Reads a PNG (https://www.w3.org/TR/png-3/) and keeps only what draws the picture: no text, no metadata, no animation and
// nothing behind its end.

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const KEPT = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'sRGB', 'gAMA']
const SIDE_MAX = 1024

/** @returns undefined for bytes that are no PNG, or a damaged or too large one */
export function cleanPng(bytes: Buffer): Buffer | undefined {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return undefined
  const parts: Buffer[] = [SIGNATURE]
  const names: string[] = []
  for (let at = SIGNATURE.length; names.at(-1) !== 'IEND'; ) {
    if (at + 12 > bytes.length) return undefined
    const length = bytes.readUInt32BE(at)
    const end = at + 12 + length
    if (end > bytes.length) return undefined
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (Bun.hash.crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined
    if (KEPT.includes(name)) parts.push(bytes.subarray(at, end))
    names.push(name)
    at = end
  }
  if (names[0] !== 'IHDR' || !names.includes('IDAT')) return undefined
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX) return undefined
  return Buffer.concat(parts)
}
