// Makes a sender's name of a file harmless: it is shown to people, written into headers and into zips.

import { normalizeUnicode } from '../../../lib/text.ts'

/** The limit of most file systems. */
const BYTES_MAX = 255
const FALLBACK = 'file'

/** Control characters, line ends, marks that turn the direction of text, invisible joints, and noncharacters. */
const INVISIBLE =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]/gu
/** Windows refuses these in names. */
const RESERVED = /[<>:"|?*]/g
/** Reserved device names of Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
/** An ending longer than this is a part of the name. */
const ENDING_MAX = 16

/** @returns a name without a path and without characters that a screen, a header or a file system would interpret */
export function toHarmlessName(given: string): string {
  // A text of a megabyte is cut before anything searches in it.
  const last = given
    .slice(-4 * BYTES_MAX)
    .split(/[/\\]/)
    .at(-1) as string
  const name = normalizeUnicode(last, 'NFC')
    .replace(INVISIBLE, '')
    .replace(RESERVED, '_')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '')
  return cutName(DEVICE.test(name) ? `_${name}` : name) || FALLBACK
}

/** Cuts between two characters, and keeps the extension, which shows the type. */
function cutName(name: string): string {
  if (Buffer.byteLength(name) <= BYTES_MAX) return name
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 && name.length - dot <= ENDING_MAX ? name.slice(dot) : ''
  return (
    cutToBytes(name.slice(0, name.length - ending.length), BYTES_MAX - Buffer.byteLength(ending)) + ending
  )
}

function cutToBytes(text: string, bytesMax: number): string {
  let bytes = 0
  let cut = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > bytesMax) break
    cut += character
  }
  return cut
}

/** @returns the ending in lower case without its dot; '' where there is none */
export const toEnding = (name: string) => /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
