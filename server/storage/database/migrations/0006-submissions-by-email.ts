// An index for the erasure of all submissions of an email address.

import { type Kysely, sql } from 'kysely'

export const submissionsByEmail = () => ({
  async up(db: Kysely<unknown>) {
    // A valid address is ASCII, so lower() gives the same on both engines.
    await sql`create index submissions_by_email on submissions (workspace_id, lower(email))
      where email is not null`.execute(db)
  },
})
