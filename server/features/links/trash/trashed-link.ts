// A link in the trash as callers see it, and how long it stays there.

import { toIso } from '../../../lib/iso-time.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { LinkResource, TrashedLinkResource } from '../schema.ts'

export const TRASH_MS = 30 * DAY_MS

export const toTrashedLink = (link: LinkResource, deletedAt: number): TrashedLinkResource => ({
  ...link,
  deletedAt: toIso(deletedAt),
  purgesAt: toIso(deletedAt + TRASH_MS),
})
