// Takes the upload of an import: its files go to the disk as they come, and its other fields become a JSON body.

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import { Failure, invalid, unavailable } from '../../../lib/failure.ts'
import { syncToDisk } from '../../../storage/write-durably.ts'
import { FILE_MAX, LARGE_FILE_MAX } from '../schema.ts'
import { createUploadDirectory, FILE_NAMES, type UploadDirectory } from './import-files.ts'
import type { OpenUploadRoom, UploadRoom } from './import-room.ts'

/** The names of file fields in the form. */
type FileField = keyof typeof FILE_NAMES

export interface ReceivedFile {
  name: string | null
  bytes: number
}

export interface Upload {
  directory: UploadDirectory
  files: Partial<Record<FileField, ReceivedFile>>
  /** The other fields, as a JSON body has them. */
  fields: Record<string, unknown>
}

const NAME_MAX = 255
/** The size of a field that is no file: a domain map of a thousand hosts fits. */
const FIELD_BYTES_MAX = 256 * 1024
const FIELDS_MAX = 50

/** Fields whose text is JSON. The text of all others is their value. */
const JSON_FIELDS = new Set(['dryRun', 'from', 'domainMap', 'mapping'])

type UploadRequest = Pick<Request, 'body' | 'headers' | 'signal'>

export interface UploadNeeds {
  dataDir: string
  openRoom: OpenUploadRoom
}

interface FormNeeds extends UploadNeeds {
  workspaceId: number
  /** The fields that may be files. */
  fileFields: readonly FileField[]
  /** Whether `file` may have more than 64 MiB. @param source as the form says it @throws Failure `forbidden` */
  isLargeSource: (source: unknown) => boolean
}

/** An upload that is being received. */
interface OpenUpload extends Upload {
  room: UploadRoom
  isLargeSource: FormNeeds['isLargeSource']
}

/**
 * @throws Failure `invalid`, `forbidden`, `too_large`, `too_many`, and `unavailable` where the disk is full. Then nothing of
 * the upload stays.
 */
export function receiveUpload(needs: FormNeeds, request: UploadRequest): Promise<Upload> {
  const { workspaceId, fileFields, isLargeSource } = needs
  // A body of chunks has no length: its room grows with it.
  const length = Number(request.headers.get('content-length') ?? 0)
  return fillUpload(needs, workspaceId, length, (upload) =>
    parseForm({ ...upload, isLargeSource }, fileFields, request),
  )
}

/** @param bytes to keep room for, before the first one is written */
async function fillUpload(
  { dataDir, openRoom }: UploadNeeds,
  workspaceId: number,
  bytes: number,
  fill: (upload: Upload & Pick<OpenUpload, 'room'>) => Promise<void>,
): Promise<Upload> {
  const room = openRoom(workspaceId)
  let directory: UploadDirectory | undefined
  try {
    await room.growTo(bytes)
    const created = await createUploadDirectory(dataDir)
    directory = {
      ...created,
      async discard() {
        await created.discard()
        room.release()
      },
    }
    const upload: Upload = { directory, files: {}, fields: {} }
    await fill({ ...upload, room })
    return upload
  } catch (error) {
    await directory?.discard()
    room.release()
    throw toUploadFailure(error)
  }
}

/** A full disk, and a quota, are not the caller's fault. */
function toUploadFailure(error: unknown): unknown {
  if (error instanceof Failure) return error
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && /^(ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE|EACCES|EFBIG)$/.test(code))
    return unavailable(error, 60)
  return new Failure('invalid', 'body: is not a complete multipart form', {
    errors: { body: 'is not a complete multipart form' },
    cause: error,
  })
}

async function parseForm(
  upload: OpenUpload,
  fileFields: readonly FileField[],
  { body, headers, signal }: UploadRequest,
): Promise<void> {
  const form = new Busboy({
    headers: { 'content-type': headers.get('content-type') ?? '' },
    limits: { fieldSize: FIELD_BYTES_MAX, fields: FIELDS_MAX, files: fileFields.length, parts: FIELDS_MAX },
    isPartAFile: (field) => (fileFields as readonly (string | undefined)[]).includes(field),
  })
  const source = Readable.fromWeb((body ?? new Response('').body) as never)
  const failed = Promise.withResolvers<never>()
  // Nobody may wait for it yet.
  failed.promise.catch(() => {})
  const parts: Readable[] = []
  const fail = (error: Error) => {
    failed.reject(error)
    source.destroy()
    // A part whose form has ended would wait for its own end.
    for (const part of parts) part.destroy(error)
  }
  // Bun ends the body of a client that is gone neither with an error nor with its end.
  signal.addEventListener('abort', () => fail(new Error('The client is gone')), { once: true })
  const writes: Promise<void>[] = []
  form.on('file', (field, stream, name) => {
    parts.push(stream)
    // A part that is refused has no other listener, and its error would end the server.
    stream.on('error', () => {})
    const write = storeFile(upload, field as FileField, stream, name)
    write.catch(fail)
    writes.push(write)
  })
  form.on('field', (field, value, _nameCut, valueCut) => {
    if (valueCut) fail(invalid({ [field]: `must be at most ${FIELD_BYTES_MAX / 1024} KiB` }))
    else if (Object.hasOwn(upload.fields, field)) fail(invalid({ [field]: 'must be given once' }))
    else addField(upload, field, value)
  })
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    form.on(limit, () =>
      fail(invalid({ body: `must have each file once, and at most ${FIELDS_MAX} fields` })),
    )
  // Both may fail once more, after the pipeline has ended.
  for (const stream of [source, form]) stream.on('error', () => {})
  const parsing = pipeline(source, form)
  parsing.catch(fail)
  try {
    await Promise.race([failed.promise, parsing])
    await Promise.all(writes)
  } catch (error) {
    fail(error as Error)
    await Promise.allSettled(writes)
    // The first failure is the reason.
    await failed.promise
  }
}

function addField({ fields }: Upload, field: string, text: string) {
  let value: unknown = text
  if (JSON_FIELDS.has(field)) {
    try {
      value = JSON.parse(text)
    } catch {
      // The rules of the field say what is wrong with a text.
    }
  }
  Object.defineProperty(fields, field, { value, enumerable: true, configurable: true, writable: true })
}

async function storeFile(
  upload: OpenUpload,
  field: FileField,
  stream: Readable,
  name: string | undefined,
): Promise<void> {
  if (upload.files[field]) throw invalid({ [field]: 'must be given once' })
  const received: ReceivedFile = { name: name?.slice(0, NAME_MAX) || null, bytes: 0 }
  upload.files[field] = received
  const isLarge = field === 'clicks' || upload.isLargeSource(upload.fields.source)
  const max = isLarge ? LARGE_FILE_MAX : FILE_MAX
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received.bytes += chunk.length
      if (received.bytes <= max) {
        upload.room.growTo(sumFiles(upload)).then(() => done(null, chunk), done)
        return
      }
      const larger = isLarge ? '1 GiB' : '64 MiB'
      done(
        new Failure(
          'too_large',
          `${field} is larger than ${larger}. On the server, "towpath import" takes files of any size.`,
        ),
      )
    },
  })
  const path = join(upload.directory.path, FILE_NAMES[field])
  await pipeline(stream, counter, createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  await syncToDisk(path)
}

const sumFiles = ({ files }: Upload) =>
  Object.values(files).reduce((sum, file) => sum + (file?.bytes ?? 0), 0)

/** Stores the files of a JSON body: their texts, or the JSON itself. @throws Failure `too_many`, `unavailable` */
export function storeContents(
  needs: UploadNeeds,
  workspaceId: number,
  contents: Partial<Record<FileField, unknown>>,
): Promise<Upload> {
  const texts = Object.entries(contents).flatMap(([field, content]): [string, string][] =>
    content === undefined ? [] : [[field, typeof content === 'string' ? content : JSON.stringify(content)]],
  )
  const bytes = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0)
  return fillUpload(needs, workspaceId, bytes, async ({ directory, files }) => {
    for (const [field, text] of texts) {
      const path = join(directory.path, FILE_NAMES[field as FileField])
      await Bun.write(path, text, { mode: 0o600 })
      await syncToDisk(path)
      files[field as FileField] = { name: null, bytes: Buffer.byteLength(text) }
    }
  })
}
