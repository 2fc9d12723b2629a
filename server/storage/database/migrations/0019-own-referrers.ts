// A site is no source of its own forms. Until now, a submission without a visit had the site of its own page as referrer:
// it is the only address that such a request names.

import { type Kysely, sql } from 'kysely'

export function ownReferrers() {
  return {
    async up(db: Kysely<unknown>) {
      await sql`UPDATE touches SET referrer = NULL WHERE referrer IS NOT NULL AND submission_id IN (
        SELECT id FROM submissions WHERE session_linked = 0 AND referrer IS NOT NULL)`.execute(db)
      await sql`UPDATE submissions SET referrer = NULL WHERE session_linked = 0 AND referrer IS NOT NULL`.execute(
        db,
      )
    },
  }
}
