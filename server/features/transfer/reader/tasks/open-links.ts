// Opens the file of an import with the reader of its source.

import { openSourceFile } from '../../files/open-source-file.ts'
import { FileProblem, type SourceFile } from '../../files/source-file.ts'
import type { ImportSourceName } from '../../schema.ts'
import type { ImportSource } from '../../sources/source.ts'
import { findSource, recognizeSource } from '../../sources/source-list.ts'
import type { UploadedFile } from '../protocol.ts'

/** @throws FileProblem */
export function getSource(name: ImportSourceName): ImportSource {
  const source = findSource(name)
  if (source) return source
  throw new FileProblem(`Files of ${name} are not read here.`)
}

/** @throws FileProblem for a file of another tool */
export async function openLinkFile(source: ImportSource, { path, name }: UploadedFile): Promise<SourceFile> {
  const file = await openUpload(path, name)
  if (isUnknownDump(source, file) || hasColumns(file, (columns) => source.isLinkFile(columns))) return file
  if (hasColumns(file, (columns) => source.isClickFile?.(columns) ?? false))
    throw new FileProblem(
      `This is the click history of ${source.title}. Send it as "clicks", and the links as "file".`,
    )
  throw new FileProblem(`This is not a list of links from ${source.title}. ${toHint(file)}`)
}

/** @throws FileProblem */
export async function openClickFile(source: ImportSource, { path, name }: UploadedFile): Promise<SourceFile> {
  if (!source.clicks) throw new FileProblem(`${source.title} has no click history that can be imported.`)
  const file = await openUpload(path, name)
  if (isUnknownDump(source, file) || hasColumns(file, (columns) => source.isClickFile?.(columns) ?? false))
    return file
  if (hasColumns(file, (columns) => source.isLinkFile(columns)))
    throw new FileProblem(
      `The second file has the links of ${source.title}. Send it as "file", and the click history as "clicks".`,
    )
  throw new FileProblem(`The second file is not a click history from ${source.title}. ${toHint(file)}`)
}

/** An SQL dump can have both links and clicks. */
export const mayHaveClicks = (source: ImportSource, file: SourceFile) =>
  file.format === 'sql' && source.clicks !== undefined

/** True for a dump whose tables are unknown before its end, because its first table can be long. */
const isUnknownDump = (source: ImportSource, file: SourceFile) =>
  file.format === 'sql' && source.links.tables.length > 0

export async function openUpload(path: string, name: string | null): Promise<SourceFile> {
  try {
    return await openSourceFile(path, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new FileProblem('The file is not on this server any more. Send it again.')
  }
}

const hasColumns = (file: SourceFile, is: (columns: string[]) => boolean) =>
  file.tables.some(({ columns }) => is(columns))

function toHint(file: SourceFile): string {
  const found = recognizeSource(file)
  if (found) return `It looks like one from ${found.source.title}: choose that source.`
  if (file.columns.length === 0) return 'It has no rows.'
  const columns = file.columns.slice(0, 10).join(', ')
  return `Its columns are: ${columns.slice(0, 300)}. Choose another source, or "csv" with a mapping.`
}
