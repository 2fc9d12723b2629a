// Opens the zip of a workspace's export. It can come from a stranger, so its directory, names and sizes are checked before a
// byte is unpacked, and its manifest before a record is read.

import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type Entry, fromFd, type ZipFile } from 'yauzl'
import { z } from 'zod'
import { parseJson } from '../../../lib/formats/parse-json.ts'
import { FILE_KEY } from '../../../storage/files/file-key.ts'
import {
  MANIFEST_NAME,
  WORKSPACE_FILES,
  WORKSPACE_FORMAT,
  WORKSPACE_FORMAT_VERSION,
  type WorkspaceFileName,
} from '../export/manifest.ts'
import { FILE_FOLDER } from '../export/stream-files.ts'
import { FileProblem } from '../files/source-file.ts'
import { archiveTime } from './archive-time.ts'

export interface Archive {
  manifest: ArchiveManifest
  /** The unpacked size of all files of submissions, as the zip's directory declares. No entry unpacks to more. */
  fileBytes: number
  /** The unpacked bytes of a file; undefined if the zip does not have it. @param path without its folder */
  findFileBytes(path: string): number | undefined
  /** Unpacks a file. A file that an export of an older release lacks counts as empty. */
  read(name: WorkspaceFileName | `${typeof FILE_FOLDER}${string}`): AsyncGenerator<Buffer>
  close(): Promise<void>
}

const MANIFEST_BYTES_MAX = 1024 * 1024
/** Our own exports compress to a tenth or a thirtieth, a zip bomb to a thousandth. */
const RATIO_MAX = 200
const RATIO_FREE_BYTES = 64 * 1024 * 1024
/**
 * Limits memory, because every entry of the directory is in memory while the zip is read. This number of files of 4 KiB fills the
 * largest zip.
 */
const ENTRIES_MAX = 250_000
const STORED = 0
const DEFLATED = 8

const wholeNumber = z.int().min(0)
const Manifest = z.object({
  format: z.literal(WORKSPACE_FORMAT),
  version: z.int().min(1),
  product: z.string().max(100),
  defaultDomain: z.string().max(300),
  workspace: z.object({
    publicId: z.string().min(1).max(100),
    name: z.string().max(1000),
    createdAt: archiveTime,
  }),
  files: z
    .array(
      z.object({
        name: z.string(),
        records: wholeNumber,
        bytes: wholeNumber,
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .max(WORKSPACE_FILES.length),
})
export type ArchiveManifest = z.infer<typeof Manifest>

/** @throws FileProblem for a file that is not a complete export of a workspace */
export async function openArchive(path: string): Promise<Archive> {
  const handle = await open(path)
  let zip: ZipFile | undefined
  try {
    zip = await openZip(handle.fd)
    const opened = zip
    const entries = await listEntries(opened)
    const manifest = await readManifest(opened, entries)
    checkNames(entries, manifest)
    const fileBytes = sumFileBytes(entries)
    if (fileBytes > Math.max(RATIO_FREE_BYTES, (await handle.stat()).size * RATIO_MAX))
      throw new FileProblem(
        `The files of submissions in the zip would unpack to more than ${RATIO_MAX} times its size. ${HOW_TO}`,
      )
    return {
      manifest,
      fileBytes,
      findFileBytes: (path) => entries.get(FILE_FOLDER + path)?.uncompressedSize,
      async *read(name) {
        const entry = entries.get(name)
        if (entry) yield* readEntry(opened, entry)
      },
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error instanceof FileProblem ? error : toProblem(error)
  }
}

const HOW_TO = 'Export the workspace again, and import that file unchanged.'

const toProblem = (error: unknown) =>
  new FileProblem(
    `The zip file cannot be read (${error instanceof Error ? error.message : error}): it is damaged, or was cut off. ${HOW_TO}`,
  )

const openZip = (fd: number) =>
  new Promise<ZipFile>((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true }
    fromFd(fd, options, (error, zip) => (error ? reject(error) : resolve(zip)))
  })

const EMPTY = Buffer.alloc(0)
/** Unused members of an entry, which take half of its memory. */
const UNUSED: Partial<Entry> = {
  fileNameRaw: EMPTY,
  extraFieldRaw: EMPTY,
  fileCommentRaw: EMPTY,
  extraFields: [],
}

/** All entries of the zip's directory. Stops at an unexpected entry, because there can be millions. */
function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > ENTRIES_MAX)
    throw new FileProblem(
      `The zip has ${zip.entryCount} files, and at most ${ENTRIES_MAX} can be imported at once.`,
    )
  const entries = new Map<string, Entry>()
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => resolve(entries))
    zip.on('entry', (entry: Entry) => {
      const problem = findEntryProblem(entry, entries)
      if (problem) return reject(new FileProblem(problem))
      entries.set(entry.fileName, Object.assign(entry, UNUSED))
      zip.readEntry()
    })
    zip.readEntry()
  })
}

/** True for a file of a submission. Its record has its checksum, and the manifest has the checksum of the records. */
const isSubmittedFile = (name: string) =>
  name.startsWith(FILE_FOLDER) && FILE_KEY.test(name.slice(FILE_FOLDER.length))

/** The sum needs its own limit, because entries can share packed bytes. */
const sumFileBytes = (entries: Map<string, Entry>) =>
  [...entries.values()].reduce(
    (sum, { fileName, uncompressedSize }) => sum + (isSubmittedFile(fileName) ? uncompressedSize : 0),
    0,
  )

const isKnownName = (name: string) =>
  name === MANIFEST_NAME || (WORKSPACE_FILES as readonly string[]).includes(name) || isSubmittedFile(name)

function findEntryProblem(entry: Entry, earlier: Map<string, Entry>): string | undefined {
  const name = JSON.stringify(entry.fileName.slice(0, 100))
  if (!isKnownName(entry.fileName))
    return `The zip has a file ${name}, which no export of this product has. ${HOW_TO}`
  if (earlier.has(entry.fileName)) return `The zip has ${name} twice. ${HOW_TO}`
  if (entry.isEncrypted()) return `The zip has a password. Unpack it, and pack it again without one.`
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return `The zip has ${name} in an unsupported compression. ${HOW_TO}`
  if (entry.uncompressedSize > Math.max(RATIO_FREE_BYTES, entry.compressedSize * RATIO_MAX))
    return `The zip has ${name}, which would unpack to more than ${RATIO_MAX} times its size. ${HOW_TO}`
  return undefined
}

async function* readEntry(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const stream = await openEntry(zip, entry)
  try {
    for await (const piece of stream) yield piece as Buffer
  } catch (error) {
    throw toProblem(error)
  } finally {
    stream.destroy()
  }
}

const openEntry = (zip: ZipFile, entry: Entry) =>
  new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(toProblem(error)) : resolve(opened)))
  })

async function readManifest(zip: ZipFile, entries: Map<string, Entry>): Promise<ArchiveManifest> {
  const entry = entries.get(MANIFEST_NAME)
  if (!entry) throw new FileProblem(`The zip has no ${MANIFEST_NAME}: it is not a complete export. ${HOW_TO}`)
  if (entry.uncompressedSize > MANIFEST_BYTES_MAX)
    throw new FileProblem(`The file ${MANIFEST_NAME} is too large. ${HOW_TO}`)
  const pieces: Buffer[] = []
  for await (const piece of readEntry(zip, entry)) pieces.push(piece)
  const parsed = Manifest.safeParse(parseJson(Buffer.concat(pieces).toString()))
  if (!parsed.success) throw new FileProblem(`The file ${MANIFEST_NAME} is not that of an export. ${HOW_TO}`)
  if (parsed.data.version > WORKSPACE_FORMAT_VERSION)
    throw new FileProblem(
      `The export is of a newer release (${parsed.data.product}). Bring this server to that release first.`,
    )
  return parsed.data
}

/** Checks that the zip has exactly the files of its manifest. */
function checkNames(entries: Map<string, Entry>, { files }: ArchiveManifest): void {
  const named = new Set(files.map(({ name }) => name))
  for (const { name, bytes } of files) {
    const entry = entries.get(name)
    if (!entry || name === MANIFEST_NAME)
      throw new FileProblem(`The zip lacks ${JSON.stringify(name.slice(0, 100))}. ${HOW_TO}`)
    if (entry.uncompressedSize !== bytes)
      throw new FileProblem(`The zip has another ${name} than its manifest says. ${HOW_TO}`)
  }
  for (const name of entries.keys())
    if (name !== MANIFEST_NAME && !named.has(name) && !isSubmittedFile(name))
      throw new FileProblem(`The zip has ${name}, which its manifest does not name. ${HOW_TO}`)
}
