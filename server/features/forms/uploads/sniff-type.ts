// Finds the media type of a file from its bytes, while they come. Neither the sender's type nor the name is believed.

import { isUtf8 } from 'node:buffer'
import { recognizeUnicode } from '../../../lib/formats/charset.ts'

export const PLAIN_TEXT = 'text/plain'
export const UNKNOWN_TYPE = 'application/octet-stream'

/** Signatures are at the beginning; the list of files in an office document may be a little later. */
const SAMPLE_BYTES = 32 * 1024
/** One character has at most four bytes. */
const CHARACTER_MAX = 4

/** Text in any encoding has none of these; nearly all other files do (https://mimesniff.spec.whatwg.org/#binary-data-byte). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
const BINARY = /[\0-\x08\x0e-\x19\x1c-\x1f\ufffe\uffff]/

/**
 * Formats of files that may be text. A text that begins with the signature of another format, such as `BM`, is a
 * text.
 */
const TEXT_FORMATS =
  /^(?:text\/.+|image\/gif|application\/(?:xml|pdf|rtf|eps|postscript|pgp-encrypted|x-ms-regedit))$/

/** Readers find the header of a PDF within this many bytes (ISO 32000-1, appendix H.3.4.1). */
const PDF_PREAMBLE_MAX = 1024

export interface SniffedType {
  /** The media type. */
  type: string
  /** The usual ending of files with this signature, such as `jpg`; undefined where the bytes have none. */
  shown: string | undefined
  /** True for extensions with a signature that is known here. */
  isKnownEnding: (ending: string) => boolean
}

export interface TypeSniffer {
  add(chunk: Uint8Array): void
  finish(): Promise<SniffedType>
}

export function createTypeSniffer(): TypeSniffer {
  const sample: Uint8Array[] = []
  let sampled = 0
  let isUtf8Text = true
  let hasZero = false
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
      hasZero ||= chunk.includes(0)
      if (hasZero || !isUtf8Text) return
      const bytes = cut.byteLength > 0 ? Buffer.concat([cut, chunk]) : chunk
      const end = findCharacterEnd(bytes)
      isUtf8Text = isUtf8(bytes.subarray(0, end))
      cut = Buffer.from(bytes.subarray(end))
    },
    async finish() {
      // The library is loaded with the first file: a server without uploads needs no memory for it.
      const { fileTypeFromBuffer, supportedExtensions } = await import('file-type')
      const isKnownEnding = (ending: string) => (supportedExtensions as ReadonlySet<string>).has(ending)
      // A file with contradictory parts has no reliable type.
      const start = Buffer.concat(sample)
      const found = await fileTypeFromBuffer(start).catch(() => undefined)
      const isText = hasZero ? isUtf16(start) : (isUtf8Text && isUtf8(cut)) || isByteText(start)
      const shown =
        found && isText && !isTextFormat(found.mime, start)
          ? undefined
          : (found ?? findLateHeader(start, isText))
      return { type: shown?.mime ?? (isText ? PLAIN_TEXT : UNKNOWN_TYPE), shown: shown?.ext, isKnownEnding }
    },
  }
}

const isByteText = (start: Buffer) => !BINARY.test(start.toString('latin1'))

function isUtf16(start: Buffer): boolean {
  const encoding = recognizeUnicode(start)
  if (encoding === null) return false
  try {
    return !BINARY.test(
      new TextDecoder(encoding, { fatal: true }).decode(start, { stream: start.length === SAMPLE_BYTES }),
    )
  } catch {
    return false
  }
}

/** A model in STL may be written as text, and begins with a word that other texts begin with. */
const isTextFormat = (type: string, start: Buffer) =>
  TEXT_FORMATS.test(type) || (type === 'model/stl' && start.includes('facet normal'))

/** Finds a PDF behind a preamble, and a TIFF with its index outside the sample. */
function findLateHeader(start: Buffer, isText: boolean): { mime: string; ext: string } | undefined {
  if (/^(?:II[*+]\0|MM\0[*+])/.test(start.toString('latin1', 0, 4))) return { mime: 'image/tiff', ext: 'tif' }
  const isPdf = /%PDF-\d/.test(start.toString('latin1', 0, PDF_PREAMBLE_MAX + '%PDF-1'.length))
  // A text about PDF has no objects.
  return isPdf && (!isText || start.includes(' obj')) ? { mime: 'application/pdf', ext: 'pdf' } : undefined
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
