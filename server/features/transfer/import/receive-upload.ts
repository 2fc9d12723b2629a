// Receives the upload of an import: streams its files to the disk, and turns its other fields into a JSON body.

import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, invalid, unavailable } from '../../../lib/failure.ts'
import { freeBuffer } from '../../../lib/memory/free-buffer.ts'
import { writeAll } from '../../../storage/files/write-all.ts'
import { syncToDisk } from '../../../storage/write-durably.ts'
import { createMultipartReader, type MultipartEvent } from '../../forms/endpoint/multipart.ts'
import type { PartHead } from '../../forms/endpoint/part-head.ts'
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
  /** The other fields, as in a JSON body. */
  fields: Record<string, unknown>
}

const NAME_MAX = 255
/** The limit of fields other than files: enough for a domain map of a thousand hosts. */
const FIELD_BYTES_MAX = 256 * 1024
const FIELDS_MAX = 50

/** Fields with JSON text. All others have their value as text. */
const JSON_FIELDS = new Set(['dryRun', 'from', 'domainMap', 'mapping'])

type UploadRequest = Pick<Request, 'body' | 'headers' | 'signal'>

export interface UploadNeeds {
  dataDir: string
  openRoom: OpenUploadRoom
}

interface FormNeeds extends UploadNeeds {
  workspaceId: number
  /** The fields that can be files. */
  fileFields: readonly FileField[]
  /** True if `file` may have more than 64 MiB. @param source from the form @throws Failure `forbidden` */
  isLargeSource: (source: unknown) => boolean
}

/** An upload that is being received. */
interface OpenUpload extends Upload {
  room: UploadRoom
  isLargeSource: FormNeeds['isLargeSource']
  fileFields: readonly string[]
  parts: number
  fileParts: number
  part: OpenField | OpenFile | undefined
}

interface OpenField {
  name: string
  content: Buffer[]
  bytes: number
}

interface OpenFile {
  field: FileField
  received: ReceivedFile
  /** True if it may have up to 1 GiB instead of 64 MiB. */
  isLarge: boolean
  handle: FileHandle
}

/**
 * @throws Failure `invalid`, `forbidden`, `too_large`, `too_many`, and `unavailable` if the disk is full. Then the upload is
 * deleted.
 */
export function receiveUpload(needs: FormNeeds, request: UploadRequest): Promise<Upload> {
  const { workspaceId, fileFields, isLargeSource } = needs
  // A chunked body has no length, so its reserved space grows with it.
  const length = Number(request.headers.get('content-length') ?? 0)
  return fillUpload(needs, workspaceId, length, (upload) =>
    parseForm({ ...upload, isLargeSource, fileFields, parts: 0, fileParts: 0, part: undefined }, request),
  )
}

/** @param bytes to reserve space for before the first one is written */
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

/** A full disk and a quota are faults of the server, not of the caller. */
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

/** One chunk at a time: the client waits for the disk. */
async function parseForm(upload: OpenUpload, { body, headers, signal }: UploadRequest): Promise<void> {
  const multipart = createMultipartReader(headers.get('content-type') ?? '')
  const reader = body?.getReader()
  // Bun does not end the body of a client that has disconnected. This ends a waiting read.
  const cancel = () => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  try {
    for (let chunk = (await reader?.read())?.value; chunk; chunk = (await reader?.read())?.value) {
      for (const event of multipart.read(chunk)) await take(upload, event)
      freeBuffer(chunk)
    }
    signal.throwIfAborted()
    multipart.end()
  } finally {
    signal.removeEventListener('abort', cancel)
    // The rest of a refused body is not read.
    cancel()
    if (upload.part && 'handle' in upload.part) await upload.part.handle.close()
  }
}

async function take(upload: OpenUpload, event: MultipartEvent): Promise<void> {
  const { part } = upload
  if ('head' in event) await beginPart(upload, event.head)
  else if (!part) return
  else if ('content' in event) await addContent(upload, part, event.content)
  else {
    if ('handle' in part) await part.handle.sync()
    else addField(upload, part.name, Buffer.concat(part.content).toString())
    await endPart(upload)
  }
}

async function endPart(upload: OpenUpload): Promise<void> {
  const { part } = upload
  upload.part = undefined
  if (part && 'handle' in part) await part.handle.close()
}

async function beginPart(upload: OpenUpload, { name, fileName }: PartHead): Promise<void> {
  const isFile = upload.fileFields.includes(name)
  if (isFile) upload.fileParts++
  if (++upload.parts > FIELDS_MAX || upload.fileParts > upload.fileFields.length)
    throw invalid({ body: `must have each file once, and at most ${FIELDS_MAX} fields` })
  if (!isFile) upload.part = { name, content: [], bytes: 0 }
  else upload.part = await openFile(upload, name as FileField, fileName)
}

async function openFile(
  upload: OpenUpload,
  field: FileField,
  fileName: string | undefined,
): Promise<OpenFile> {
  if (upload.files[field]) throw invalid({ [field]: 'must be given once' })
  const received: ReceivedFile = { name: fileName ? toBaseName(fileName) : null, bytes: 0 }
  upload.files[field] = received
  const isLarge = field === 'clicks' || upload.isLargeSource(upload.fields.source)
  const handle = await open(join(upload.directory.path, FILE_NAMES[field]), 'wx', 0o600)
  return { field, received, isLarge, handle }
}

/** Some clients send a path. */
const toBaseName = (fileName: string) => fileName.split(/[\\/]/).at(-1)?.slice(0, NAME_MAX) || null

async function addContent(upload: OpenUpload, part: OpenField | OpenFile, content: Buffer): Promise<void> {
  if ('handle' in part) {
    part.received.bytes += content.length
    if (part.received.bytes > (part.isLarge ? LARGE_FILE_MAX : FILE_MAX)) throw toTooLarge(part)
    await upload.room.growTo(sumFiles(upload))
    await writeAll(part.handle, content)
    return
  }
  part.bytes += content.length
  if (part.bytes > FIELD_BYTES_MAX)
    throw invalid({ [part.name]: `must be at most ${FIELD_BYTES_MAX / 1024} KiB` })
  part.content.push(Buffer.from(content))
}

const toTooLarge = ({ field, isLarge }: OpenFile) =>
  new Failure(
    'too_large',
    `${field} is larger than ${isLarge ? '1 GiB' : '64 MiB'}. On the server, "npx towpath import" takes files of any size.`,
  )

function addField({ fields }: Upload, field: string, text: string) {
  if (Object.hasOwn(fields, field)) throw invalid({ [field]: 'must be given once' })
  let value: unknown = text
  if (JSON_FIELDS.has(field)) {
    try {
      value = JSON.parse(text)
    } catch {
      // The rules of the field report a wrong text.
    }
  }
  Object.defineProperty(fields, field, { value, enumerable: true, configurable: true, writable: true })
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
