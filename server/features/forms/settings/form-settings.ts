// A form as its endpoint sees it. Read for each submission, by an index: a change is in force with the next one.

import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'

export interface FormSettings {
  id: number
  workspaceId: number
  formKey: string
  enabled: boolean
  requiredFields: string[]
  redirectUrl: string | null
  captcha: boolean
  allowedOrigins: string[]
  channelIds: number[]
}

// Longer and looser than keys are, and still nothing that a store would stumble over.
const KEY_SHAPE = /^[\w-]{1,64}$/

/** The form's key is what is public, and says whose form it is. */
export async function findFormSettings(db: Database, formKey: string): Promise<FormSettings | undefined> {
  if (!KEY_SHAPE.test(formKey)) return undefined
  const [row] = await byKey(db.read, { formKey })
  return (
    row && {
      id: row.id,
      workspaceId: row.workspace_id,
      formKey: row.form_key,
      enabled: row.enabled === 1,
      requiredFields: JSON.parse(row.required_fields),
      redirectUrl: row.redirect_url,
      captcha: row.captcha === 1,
      allowedOrigins: JSON.parse(row.allowed_origins),
      channelIds: JSON.parse(row.channel_ids),
    }
  )
}

function selectByKey(connection: Connection, { formKey }: { formKey: string }) {
  return connection
    .selectFrom('forms')
    .select([
      'id',
      'workspace_id',
      'form_key',
      'enabled',
      'required_fields',
      'redirect_url',
      'captcha',
      'allowed_origins',
      'channel_ids',
    ])
    .where('form_key', '=', formKey)
}
const byKey = prepareQuery(selectByKey)
