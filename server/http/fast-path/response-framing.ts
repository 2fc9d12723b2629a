// Finds the end of a relayed answer: by its status, its Content-Length, or its chunks (RFC 9112 §6.3, §7.1). An answer
// that ends with the connection, is only an interim one, or has trailers is uncertain.

import { type Bytes, createHeaderFields, findField, readHeaderFields } from './header-fields.ts'
import {
  collectHead,
  createMessageFraming,
  type MessageFraming,
  parseContentLength,
  passBody,
} from './message-framing.ts'

export interface ResponseFraming extends MessageFraming {
  /** The next part of a chunked body; null when the body has a length. */
  next: ChunkPart | null
  /** Number of digits of the chunk's size so far. */
  digits: number
}

type ChunkPart =
  | 'size'
  | 'line feed of size'
  | 'data'
  | 'end of data'
  | 'line feed of data'
  | 'end of body'
  | 'line feed of body'

export const createResponseFraming = (): ResponseFraming => ({
  ...createMessageFraming(),
  next: null,
  digits: 0,
})

/**
 * Reads the next bytes from the server. Bytes after the end make the answer uncertain.
 * @param method of the request: an answer to HEAD has no body
 */
export function readResponse(framing: ResponseFraming, chunk: Buffer, method: string): void {
  if (framing.state === 'complete') framing.state = 'uncertain'
  else if (framing.state === 'body') readBody(framing, chunk, 0)
  else if (framing.state === 'head') {
    const bytes = collectHead(framing, chunk)
    if (bytes) readHead(framing, bytes, method)
  }
}

const STATUS_LINE = /^HTTP\/1\.1 ([2-5]\d\d) [ -~]*\r\n/

// One message is read at a time, and nothing of its fields is kept.
const fields = createHeaderFields()

function readHead(framing: ResponseFraming, bytes: Bytes, method: string): void {
  const lineEnd = bytes.indexOf('\r\n') + 2
  const status = Number(STATUS_LINE.exec(bytes.latin1Slice(0, lineEnd))?.[1])
  const end = status ? readHeaderFields(fields, bytes, lineEnd) : -1
  const length = end === -1 ? -1 : bodyLength(status, method)
  if (length === -1) {
    framing.state = 'uncertain'
    return
  }
  framing.state = 'body'
  framing.next = length === 'chunked' ? 'size' : null
  framing.bodyLeft = length === 'chunked' ? 0 : length
  readBody(framing, bytes, end)
}

/** @returns -1 where the end is uncertain, or the connection does not go on */
function bodyLength(status: number, method: string): number | 'chunked' {
  const connection = findField(fields, 'connection')?.toLowerCase()
  if (connection !== undefined && connection !== 'keep-alive') return -1
  if (findField(fields, 'upgrade') !== null || findField(fields, 'trailer') !== null) return -1
  const coding = findField(fields, 'transfer-encoding')
  const text = findField(fields, 'content-length')
  if (coding !== null && (text !== null || coding.toLowerCase() !== 'chunked')) return -1
  const length = text === null ? null : parseContentLength(text)
  if (length === -1) return -1
  if (status === 204 || status === 304) {
    // Contradicts the status: 204 has no length, and neither status has chunks.
    return coding === null && (status === 304 || !length) ? 0 : -1
  }
  if (method === 'HEAD') return coding === null ? 0 : -1
  if (coding !== null) return 'chunked'
  return length ?? -1
}

function readBody(framing: ResponseFraming, bytes: Buffer, from: number): void {
  if (framing.next === null) passBody(framing, bytes.length - from)
  else readChunks(framing, bytes, from)
}

function readChunks(framing: ResponseFraming, bytes: Buffer, from: number): void {
  let at = from
  while (at < bytes.length && framing.state === 'body') {
    if (framing.next === 'data') {
      const taken = Math.min(framing.bodyLeft, bytes.length - at)
      at += taken
      framing.bodyLeft -= taken
      if (framing.bodyLeft === 0) framing.next = 'end of data'
    } else if (framing.next === 'size') readSize(framing, bytes[at++] as number)
    else readLineEnd(framing, bytes[at++] as number)
  }
  // Bytes follow after the end of the body.
  if (at < bytes.length) framing.state = 'uncertain'
}

const [CR, LF] = [13, 10]
/** 4 GB minus one byte. This server sends no larger chunk. */
const SIZE_DIGITS_MAX = 8

/** Hexadecimal digits and the end of their line; extensions of chunks are uncertain. */
function readSize(framing: ResponseFraming, byte: number): void {
  if (byte === CR && framing.digits > 0) {
    framing.next = 'line feed of size'
    framing.digits = 0
    return
  }
  const digit = hexadecimal(byte)
  if (digit === -1 || framing.digits === SIZE_DIGITS_MAX) framing.state = 'uncertain'
  framing.digits++
  framing.bodyLeft = framing.bodyLeft * 16 + digit
}

/** @returns -1 where the byte is no digit */
function hexadecimal(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** Checks one byte of a line end, and finds the part that comes after it. The last chunk has the size 0. */
function readLineEnd(framing: ResponseFraming, byte: number): void {
  const { next } = framing
  const wanted = next === 'end of data' || next === 'end of body' ? CR : LF
  if (byte !== wanted) framing.state = 'uncertain'
  else if (next === 'line feed of size') framing.next = framing.bodyLeft === 0 ? 'end of body' : 'data'
  else if (next === 'end of data') framing.next = 'line feed of data'
  else if (next === 'line feed of data') framing.next = 'size'
  else if (next === 'end of body') framing.next = 'line feed of body'
  else framing.state = 'complete'
}
