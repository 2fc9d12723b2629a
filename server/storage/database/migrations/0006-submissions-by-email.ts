// The index by which the submissions of an e-mail address are found when they are to be erased.

import { type Kysely, sql } from 'kysely'

export const submissionsByEmail = () => ({
  async up(db: Kysely<unknown>) {
    // A valid address is ASCII, so the engines agree on its lower case.
    await sql`create index submissions_by_email on submissions (workspace_id, lower(email))
      where email is not null`.execute(db)
  },
})
