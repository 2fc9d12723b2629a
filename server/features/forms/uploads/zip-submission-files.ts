// All files of a submission as one zip, written while it is sent. The zip does not compress them, because most are
// compressed already; so its size is known before its first byte.

import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { ZipFile } from 'yazl'
import type { FileStore } from '../../../storage/files/file-store.ts'
import { openFile, type StoredFileRow } from './find-file.ts'

export interface FilesZip {
  bytes: number
  /** An error ends it early, and the zip is none then. */
  pieces: AsyncGenerator<Uint8Array>
}

/** Types of yazl leave its argument out. */
type OnSize = (bytes: number) => void

export async function zipSubmissionFiles(
  store: Pick<FileStore, 'read'>,
  files: StoredFileRow[],
): Promise<FilesZip> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  let current: Readable | undefined
  zip.on('error', (error) => output.destroy(error as Error))
  const names = toUniqueNames(files.map(({ name }) => name))
  for (const [i, file] of files.entries()) {
    const options = { size: file.bytes, compress: false, mtime: new Date(file.created_at) }
    zip.addReadStreamLazy(names[i] as string, options, (ready) => {
      openFile(store, file).then(
        (stream) => {
          current = Readable.fromWeb(stream as WebStream)
          // A pipe passes no errors on.
          current.on('error', (error) => output.destroy(error))
          ready(null, current)
        },
        (error) => output.destroy(error),
      )
    })
  }
  const bytes = await new Promise<number>((resolve) => {
    const onSize: OnSize = resolve
    zip.end({ forceZip64Format: false, comment: '' }, onSize as () => void)
  })
  return { bytes, pieces: readPieces(output, () => current?.destroy()) }
}

async function* readPieces(output: Readable, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* output
  } finally {
    output.destroy()
    end()
  }
}

/** Two files may have the same name; some file systems take `A.txt` for `a.txt` too. */
export function toUniqueNames(names: string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const dot = name.lastIndexOf('.')
    const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
    let unique = name
    for (let n = 2; taken.has(unique.toLowerCase()); n++) unique = `${stem} (${n})${ending}`
    taken.add(unique.toLowerCase())
    return unique
  })
}
