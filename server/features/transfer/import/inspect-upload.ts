// Says what an uploaded file is, before anything is imported.

import { join } from 'node:path'
import { Failure, invalid } from '../../../lib/failure.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { FileProblem } from '../files/source-file.ts'
import { openReader, ReaderLost } from '../reader/open-reader.ts'
import type { InspectImportInput, InspectionResource } from '../schema.ts'
import { FILE_NAMES } from './import-files.ts'
import type { Upload } from './receive-upload.ts'

export interface InspectNeeds {
  dataDir: string
}

/** Each takes a process of its own. */
const AT_ONCE = 2
const TIMEOUT_MS = 60_000

let running = 0

/** @throws Failure `invalid` for a file that nobody can read, `too_many` */
export async function inspectUpload(
  _needs: InspectNeeds,
  actor: Actor,
  { mapping = {}, dateOrder, timeZone = 'UTC' }: InspectImportInput,
  upload: Upload | undefined,
): Promise<InspectionResource> {
  allow(actor, 'links:write')
  const file = upload?.files.file
  if (!upload || !file) throw invalid({ file: 'is required' })
  if (file.bytes === 0) throw invalid({ file: 'is empty' })
  if (running >= AT_ONCE)
    throw new Failure('too_many', 'Other files are being looked at. Try again in 5 seconds.', {
      retryAfter: 5,
    })
  running++
  const reader = openReader(AbortSignal.timeout(TIMEOUT_MS))
  try {
    const path = join(upload.directory.path, FILE_NAMES.file)
    const options = { mapping, dateOrder: dateOrder ?? null, timeZone }
    return await reader.run('inspect', { file: { path, name: file.name }, options }, async () => null)
  } catch (error) {
    if (error instanceof FileProblem) throw invalid({ file: error.message })
    const isTooMuch = error instanceof ReaderLost || (error as Error).name === 'TimeoutError'
    throw isTooMuch ? invalid({ file: 'cannot be read: it takes too long, or too much memory' }) : error
  } finally {
    running--
    reader.close()
  }
}
