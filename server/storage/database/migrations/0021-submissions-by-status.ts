// The indexes of submissions by time have the status too, so that counting the unread ones reads no submission.

import type { Kysely } from 'kysely'

const INDEXES = { submissions_by_form: 'form_id', submissions_by_workspace: 'workspace_id' }

export const submissionsByStatus = () => ({
  async up(db: Kysely<unknown>) {
    for (const [name, owner] of Object.entries(INDEXES)) {
      await db.schema.dropIndex(name).execute()
      await db.schema
        .createIndex(name)
        .on('submissions')
        .columns([owner, 'created_at', 'id', 'status'])
        .execute()
    }
  },
})
