// The visitor of a hit or submission of our own export.

import { createHash } from 'node:crypto'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toStoredVisitor } from '../../../storage/hits/day-visitor.ts'
import { NO_VISITOR } from '../../../storage/hits/hit.ts'

/**
 * Hashes the visitor again with the day, so that a visitor belongs to one day, whatever the export has. A submission has the
 * whole hash of its visitor and a hit the stored form, so both are hashed from the stored form.
 */
export function toDayVisitor(visitor: string, at: number): string {
  if (visitor === '' || visitor === NO_VISITOR) return NO_VISITOR
  const digest = createHash('sha256')
    .update(`${Math.floor(at / DAY_MS)}|${toStoredVisitor(visitor, at)}`)
    .digest()
  return digest.readBigUInt64BE().toString()
}
