// Reads a logo that a request has as a data URL.

import { cleanPng } from './clean-png.ts'

const BYTES_MAX = 64 * 1024
const PREFIX = 'data:image/png;base64,'

export const LOGO_TEXT_MAX = PREFIX.length + Math.ceil(BYTES_MAX / 3) * 4 + 4

/** @returns only the picture of the file, or the mistake in the text */
export function readPngDataUrl(text: string): Buffer | { wrong: string } {
  if (!text.startsWith(PREFIX))
    return {
      wrong: 'must be a PNG as a data URL (data:image/png;base64,…). The dashboard turns an SVG into one',
    }
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64')
  if (bytes.length > BYTES_MAX) return { wrong: 'must be at most 64 KiB' }
  return cleanPng(bytes) ?? { wrong: 'must be a PNG of at most 1024 × 1024 pixels' }
}
