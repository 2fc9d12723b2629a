// Reads the hits of an archive as rows of a click history. A stranger may have written them.

import { z } from 'zod'
import { isCleanText } from '../../../lib/text.ts'
import { HIT_CLASSES, HIT_DIMENSIONS, HIT_OUTCOMES, HIT_TRIGGERS } from '../../../storage/hits/hit.ts'
import { KEPT_PARAM_NAME, KEPT_PARAMS_MAX, KEPT_VALUE_MAX } from '../../../storage/hits/kept-params.ts'
import type { HistoryRow } from '../history/messages.ts'
import { UNKNOWN_CLICK } from '../sources/source-click.ts'
import { toArchiveKey, toNoLinkKey } from './archive-keys.ts'
import { archiveMoment } from './archive-time.ts'
import type { Archive } from './open-archive.ts'
import { type ArchiveLine, readLines } from './read-lines.ts'

const HITS_FILE = 'hits.ndjson'
/** The longest text of a hit is an address of a page. */
const TEXT_MAX = 2048

const text = z.string().min(1).max(TEXT_MAX).refine(isCleanText).nullable()
const { trigger: _, ...texts } = Object.fromEntries(HIT_DIMENSIONS.map((name) => [name, text])) as Record<
  (typeof HIT_DIMENSIONS)[number],
  typeof text
>
const HitRecord = z.object({
  at: archiveMoment,
  linkId: z.int().min(0),
  outcome: z.enum(HIT_OUTCOMES),
  class: z.enum(HIT_CLASSES),
  trigger: z.enum(HIT_TRIGGERS),
  visitor: z.string().regex(/^\d{1,20}$/),
  ...texts,
  // Archives of older versions have none.
  variant: text.default(null),
  params: text.transform(toKeptParams).default(null),
  unknownSlug: text,
})

const KeptParams = z
  .record(z.string().regex(KEPT_PARAM_NAME), z.string().min(1).max(KEPT_VALUE_MAX).refine(isCleanText))
  .refine((params) => Object.keys(params).length <= KEPT_PARAMS_MAX)

/** Normalizes kept parameters. @returns null for parameters that this server would not keep */
function toKeptParams(written: string | null): string | null {
  try {
    const { data } = KeptParams.safeParse(JSON.parse(written ?? 'null'))
    return data ? JSON.stringify(data) : null
  } catch {
    return null
  }
}

export async function* readArchiveHits(archive: Archive): AsyncGenerator<HistoryRow[]> {
  const { publicId } = archive.manifest.workspace
  for await (const lines of readLines(archive, HITS_FILE))
    yield lines.map((line) => toHistoryRow(line, publicId))
}

function toHistoryRow({ row, record }: ArchiveLine, publicId: string): HistoryRow {
  const parsed = HitRecord.safeParse(record)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const problem = {
      field: issue?.path.join('.') ?? '',
      value: null,
      message: 'This is not a hit of an export.',
    }
    return { row, keys: [], click: null, problems: [problem] }
  }
  const { at, linkId, ...described } = parsed.data
  const key = linkId === 0 ? toNoLinkKey(publicId) : toArchiveKey(publicId, 'link', linkId)
  const click = { ...UNKNOWN_CLICK, at, trigger: described.trigger, described }
  return { row, keys: [key], click, problems: [] }
}

export interface LinkHits {
  /** All hits of the link. */
  hits: number
  /** Clicks of people, which the counter of the link includes. */
  clicks: number
}

export async function countHitsByLink(archive: Archive): Promise<Map<number, LinkHits>> {
  const byLink = new Map<number, LinkHits>()
  for await (const lines of readLines(archive, HITS_FILE)) {
    for (const { record } of lines) {
      const { linkId, outcome, class: hitClass } = (record ?? {}) as Record<string, unknown>
      if (typeof linkId !== 'number') continue
      const counts = byLink.get(linkId) ?? { hits: 0, clicks: 0 }
      counts.hits++
      if (outcome === 'redirect' && hitClass === 'human') counts.clicks++
      byLink.set(linkId, counts)
    }
  }
  return byLink
}
