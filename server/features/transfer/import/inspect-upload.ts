// Inspects an uploaded file before anything is imported: its tool, its format, its columns.

import { join } from 'node:path'
import { Failure, invalid } from '../../../lib/failure.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { FileProblem } from '../files/source-file.ts'
import { openReader, ReaderLost, type ReaderNeeds } from '../reader/open-reader.ts'
import type { InspectImportInput, InspectionResource } from '../schema.ts'
import { FILE_NAMES } from './import-files.ts'
import { SLICE_MS } from './import-schedule.ts'
import type { Upload } from './receive-upload.ts'

export interface InspectNeeds extends ReaderNeeds {
  /** Time limit of an inspection while others wait. */
  sliceMs?: number
}

/** The number of concurrent inspections. Each needs a process. */
const AT_ONCE = 2
const TIMEOUT_MS = 60_000
const RETRY_S = 5

interface Inspection {
  workspaceId: number
  since: number
  controller: AbortController
}

/** The running inspections, oldest first. */
const running = new Set<Inspection>()

/**
 * @param signal aborted when the client disconnects
 * @throws Failure `invalid` for an unreadable file, `too_many`
 */
export async function inspectUpload(
  needs: InspectNeeds,
  actor: Actor,
  { mapping = {}, dateOrder, timeZone = 'UTC' }: InspectImportInput,
  upload: Upload | undefined,
  signal: AbortSignal,
): Promise<InspectionResource> {
  allow(actor, 'links:write')
  const file = upload?.files.file
  if (!upload || !file) throw invalid({ file: 'is required' })
  if (file.bytes === 0) throw invalid({ file: 'is empty' })
  const inspection = begin(needs, actor)
  const signals = [AbortSignal.timeout(TIMEOUT_MS), inspection.controller.signal, signal]
  const reader = openReader(needs, AbortSignal.any(signals))
  try {
    const path = join(upload.directory.path, FILE_NAMES.file)
    const options = { mapping, dateOrder: dateOrder ?? null, timeZone }
    return await reader.run('inspect', { file: { path, name: file.name }, options }, async () => null)
  } catch (error) {
    if (error instanceof FileProblem) throw invalid({ file: error.message })
    const isTooMuch = error instanceof ReaderLost || (error as Error).name === 'TimeoutError'
    throw isTooMuch ? invalid({ file: 'cannot be read: it takes too long, or too much memory' }) : error
  } finally {
    running.delete(inspection)
    reader.close()
  }
}

/** Allows one inspection for a workspace. Stops the oldest one after its slice for another workspace. @throws Failure `too_many` */
function begin({ sliceMs = SLICE_MS }: InspectNeeds, { workspaceId }: Actor): Inspection {
  const since = performance.now()
  if ([...running].some((other) => other.workspaceId === workspaceId))
    throw tooMany('Another file of this workspace is being inspected.')
  if (running.size >= AT_ONCE) {
    const oldest = [...running].find((other) => since - other.since >= sliceMs)
    if (!oldest) throw tooMany('Other files are being inspected.')
    running.delete(oldest)
    oldest.controller.abort(tooMany('Files of other workspaces are being inspected.'))
  }
  const inspection = { workspaceId, since, controller: new AbortController() }
  running.add(inspection)
  return inspection
}

const tooMany = (sentence: string) =>
  new Failure('too_many', `${sentence} Try again in ${RETRY_S} seconds.`, { retryAfter: RETRY_S })
