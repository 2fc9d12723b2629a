// Finds the media type of a file from its bytes, while they come. Neither the sender's type nor the name is believed.

import { isUtf8 } from 'node:buffer'

export const PLAIN_TEXT = 'text/plain'
export const UNKNOWN_TYPE = 'application/octet-stream'

/** Signatures are at the beginning; the list of files in an office document may be a little later. */
const SAMPLE_BYTES = 32 * 1024
/** One character has at most four bytes. */
const CHARACTER_MAX = 4

export interface SniffedType {
  /** The media type. */
  type: string
  /** The usual ending of files with this signature, such as `jpg`; undefined where the bytes have none. */
  shown: string | undefined
  /** True for endings whose files have a signature that is known here. */
  isKnownEnding: (ending: string) => boolean
}

export interface TypeSniffer {
  add(chunk: Uint8Array): void
  finish(): Promise<SniffedType>
}

export function createTypeSniffer(): TypeSniffer {
  const sample: Uint8Array[] = []
  let sampled = 0
  let isText = true
  /** The last bytes of a chunk may be the beginning of a character. */
  let cut: Uint8Array = new Uint8Array()
  return {
    add(chunk) {
      if (sampled < SAMPLE_BYTES) {
        // A copy, because the chunk is a view of a buffer that is freed.
        const part = Buffer.from(chunk.subarray(0, SAMPLE_BYTES - sampled))
        sample.push(part)
        sampled += part.byteLength
      }
      if (!isText) return
      const bytes = cut.byteLength > 0 ? Buffer.concat([cut, chunk]) : chunk
      const end = findCharacterEnd(bytes)
      isText = isUtf8(bytes.subarray(0, end)) && !bytes.includes(0)
      cut = Buffer.from(bytes.subarray(end))
    },
    async finish() {
      // The library is loaded with the first file: a server without uploads needs no memory for it.
      const { fileTypeFromBuffer, supportedExtensions } = await import('file-type')
      const isKnownEnding = (ending: string) => (supportedExtensions as ReadonlySet<string>).has(ending)
      // A file whose parts contradict each other has no type that can be relied on.
      const found = await fileTypeFromBuffer(Buffer.concat(sample)).catch(() => undefined)
      const bare = isText && isUtf8(cut) ? PLAIN_TEXT : UNKNOWN_TYPE
      return { type: found?.mime ?? bare, shown: found?.ext, isKnownEnding }
    },
  }
}

/** @returns the index after the last character that is whole */
function findCharacterEnd(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - CHARACTER_MAX); at--) {
    const byte = bytes[at] as number
    if (byte < 0x80) return at + 1
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return at + length <= bytes.length ? bytes.length : at
  }
  return bytes.length
}
