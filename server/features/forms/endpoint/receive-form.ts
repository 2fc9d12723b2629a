// Reads a multipart body with files as it comes: fields into memory, files into drafts. A file waits for the disk and
// the client waits for the file, so a large body needs no more memory than a small one.

import { BODY_MAX } from '../../../http/json-body.ts'
import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { describeError, log } from '../../../lib/log.ts'
import { freeBuffer } from '../../../lib/memory/free-buffer.ts'
import { isControlField } from '../settings/control-fields.ts'
import { toHarmlessName } from '../uploads/file-name.ts'
import type { FileReceiver } from '../uploads/receive-files.ts'
import type { StopReason } from '../uploads/receiving-slots.ts'
import type { UploadSettings } from '../uploads/schema.ts'
import type { SubmittedFile } from '../uploads/submitted-file.ts'
import type { BodyCharset } from './body-charset.ts'
import { EndpointError, tooLarge } from './endpoint-error.ts'
import { toStorable } from './fields.ts'
import {
  createMultipartReader,
  findPartsCharset,
  type MultipartEvent,
  type ReceivedPart,
  toEntries,
} from './multipart.ts'
import { type PartHead, readPartHead } from './part-head.ts'
import { ENTRIES_MAX, type FormBody } from './read-body.ts'
import type { UploadWatch } from './watch-upload.ts'

/** Fields, headers and boundaries beside the files. */
const BESIDE_FILES = 2 * 1024 * 1024

interface OpenPart {
  head: PartHead
  /** The content of a field. Files have none here. */
  content: Buffer[]
  /** The file's name, once its first byte has come. */
  fileName: string | undefined
  /** The file is taken. Others are read and dropped. */
  isTaken: boolean
}

type State = ReturnType<typeof createState>

const createState = (files: FileReceiver, watch: UploadWatch, stop: (reason: StopReason) => void) => ({
  files,
  watch,
  stop,
  parts: [] as ReceivedPart[],
  /** The files that are kept, with their parts. */
  accepted: [] as { file: SubmittedFile; part: ReceivedPart }[],
  part: undefined as OpenPart | undefined,
  hasFile: false,
  total: 0,
  fileBytes: 0,
})

type BodyRequest = Pick<Request, 'body' | 'signal'>

/** @returns the fields' entries and their bytes; the files are with the receiver. @throws EndpointError 400, 413, 429, 503 */
export async function receiveForm(
  { body, signal }: BodyRequest,
  headers: Pick<Headers, 'get'>,
  settings: UploadSettings,
  { files, watch }: Pick<State, 'files' | 'watch'>,
): Promise<FormBody> {
  const bytesMax = settings.maxFiles * settings.maxBytes + BESIDE_FILES
  const declared = Number(headers.get('content-length') ?? 0)
  if (declared > bytesMax) throw tooLarge()
  const multipart = createMultipartReader(headers.get('content-type') ?? '')
  const source = readBytesOf(body, signal, watch)
  const state = createState(files, watch, source.stop)
  const pace = createPacer()
  try {
    for (let chunk = await source.next(); chunk; chunk = await source.next()) {
      state.total += chunk.byteLength
      if (state.total > bytesMax) throw tooLarge()
      if (state.hasFile) await watch.received(chunk.byteLength)
      for (const event of multipart.read(chunk)) {
        await take(state, event, Math.max(0, declared - state.total))
        if (state.parts.length > ENTRIES_MAX) throw tooLarge()
        const pause = pace()
        if (pause) await pause
      }
      if (state.total - state.fileBytes > BODY_MAX) throw tooLarge()
      freeBuffer(chunk)
    }
    multipart.end()
  } finally {
    source.close()
  }
  const charset = findPartsCharset(state.parts, headers.get('content-type') ?? '')
  if (charset.isLegacy) renameFiles(state.accepted, charset)
  return { entries: [...toEntries(state.parts, charset)], size: state.total - state.fileBytes }
}

/** The charset is known once all parts have come: `_charset_` may be the last one. */
function renameFiles(accepted: State['accepted'], charset: BodyCharset): void {
  for (const { file, part } of accepted) {
    const { name, fileName = '' } = readPartHead(part.head.raw, charset)
    file.field = toStorable(name)
    file.name = toHarmlessName(toStorable(fileName))
    part.content = { fileName: file.name }
  }
}

async function take(state: State, event: MultipartEvent, toCome: number): Promise<void> {
  const { part } = state
  if ('head' in event) state.part = { head: event.head, content: [], fileName: undefined, isTaken: false }
  else if (!part) return
  else if ('end' in event) {
    state.part = undefined
    await endPart(state, part, toCome)
  } else if (part.head.fileName === undefined) part.content.push(Buffer.from(event.content))
  else await takeFileBytes(state, part, event.content, toCome)
}

async function takeFileBytes(state: State, part: OpenPart, bytes: Buffer, toCome: number): Promise<void> {
  state.fileBytes += bytes.byteLength
  await beginFile(state, part, toCome)
  if (!part.isTaken) return
  state.watch.requireRoom(0)
  await orUnavailable(() => state.files.write(bytes))
}

async function endPart(state: State, part: OpenPart, toCome: number): Promise<void> {
  const { head } = part
  if (head.fileName === undefined) {
    state.parts.push({ head, content: Buffer.concat(part.content) })
    return
  }
  // A browser sends an empty file without a name for a file input where nothing was chosen.
  if (head.fileName === '' && part.fileName === undefined) {
    state.parts.push({ head, content: { file: 'none' } })
    return
  }
  await beginFile(state, part, toCome)
  const file = part.isTaken ? await orUnavailable(() => state.files.finish()) : undefined
  const content = part.isTaken ? { fileName: part.fileName as string } : { file: 'chosen' as const }
  const received = { head, content }
  state.parts.push(received)
  if (file) state.accepted.push({ file, part: received })
}

/** Refuses a file that would never be shown: a file without a field name, or in a control field. */
async function beginFile(state: State, part: OpenPart, toCome: number): Promise<void> {
  if (part.fileName !== undefined) return
  const field = toStorable(part.head.name)
  part.fileName = part.head.fileName ?? ''
  part.isTaken = field !== '' && !isControlField(field)
  if (!part.isTaken) return
  if (!state.hasFile) {
    state.watch.requireRoom(toCome)
    state.watch.begins(state.stop)
    await state.watch.received(state.total)
  }
  state.hasFile = true
  part.fileName = await orUnavailable(() => state.files.begin(field, toStorable(part.fileName as string)))
}

const RETRY_AFTER_SECONDS = 60

/** A store that takes no bytes is full or away: both are over one day. @throws EndpointError 503 */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    log.error('upload_not_stored', describeError(error))
    throw new EndpointError(503, 'Temporarily unavailable', RETRY_AFTER_SECONDS)
  }
}

const STOPPED: Record<StopReason, EndpointError> = {
  'too slow': new EndpointError(400, 'The body is cut off: it came too slowly'),
  replaced: new EndpointError(429, 'Too many submissions. Please try again later.', RETRY_AFTER_SECONDS),
}

/** The chunks of a body, until it ends, the client disconnects, or the caller stops it. */
function readBytesOf(body: Request['body'], signal: AbortSignal, { waits }: UploadWatch) {
  const reader = body?.getReader()
  let failure: EndpointError | undefined
  const fail = (error: EndpointError) => {
    failure ??= error
    // A read that waits ends with this.
    reader?.cancel().catch(() => {})
  }
  // Bun ends the body of a client that is gone neither with an error nor with its end.
  const onAbort = () => fail(new EndpointError(400, 'The body is cut off'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    async next(): Promise<Uint8Array | undefined> {
      waits()
      const result = await reader?.read().catch(onAbort)
      if (failure) throw failure
      return result?.value
    },
    stop: (reason: StopReason) => fail(STOPPED[reason]),
    close() {
      signal.removeEventListener('abort', onAbort)
      // The rest of a refused body is dropped as it comes.
      reader?.releaseLock()
    },
  }
}
