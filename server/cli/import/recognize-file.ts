// Detects the tool that a file is from, where the operator has not named one.

import { basename, resolve } from 'node:path'
import { FileProblem } from '../../features/transfer/files/source-file.ts'
import { openReader } from '../../features/transfer/reader/open-reader.ts'
import type { ImportSourceName } from '../../features/transfer/schema.ts'
import { CommandError } from '../command.ts'

/** @throws CommandError */
export async function recognizeFile(path: string): Promise<ImportSourceName> {
  const reader = openReader()
  try {
    const file = { path: resolve(path), name: basename(path) }
    const options = { mapping: {}, dateOrder: null, timeZone: 'UTC' }
    const { source, title } = await reader.run('inspect', { file, options }, async () => null)
    process.stderr.write(`Recognized: ${title}. (--source says it otherwise.)\n`)
    return source
  } catch (error) {
    if (error instanceof FileProblem) throw new CommandError(error.message)
    const isMissing = (error as Error).message.startsWith('ENOENT')
    throw isMissing ? new CommandError(`There is no file ${path}.`) : error
  } finally {
    reader.close()
  }
}
