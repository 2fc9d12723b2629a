// Choices of a recipient, by the link in an email: read what it is about, confirm, and stop the emails.

import { notFound } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { RecipientLink, RecipientLinks } from './recipient-links.ts'
import { type RecipientState, readRecipientStates } from './recipient-states.ts'

export interface RecipientChoiceNeeds {
  db: Database
  now: () => number
  links: RecipientLinks
  /** Deliveries may be due now. */
  wake: () => void
}

/** @throws Failure `not_found` for a link that is not ours, and for one of a deleted workspace */
export async function describeRecipientLink(
  { db, links }: RecipientChoiceNeeds,
  token: string,
): Promise<{ workspace: string; recipients: { email: string; state: RecipientState }[] }> {
  const { workspaceId, emails, workspace } = await getLink({ db, links }, token)
  const states = await readRecipientStates(db.read, workspaceId, emails)
  return { workspace, recipients: [...states].map(([email, state]) => ({ email, state })) }
}

/** @param email one address of the link; all of them when absent @throws Failure `not_found` */
export async function setRecipientState(
  needs: RecipientChoiceNeeds,
  token: string,
  state: 'confirmed' | 'stopped',
  email?: string,
): Promise<void> {
  const { workspaceId, emails } = await getLink(needs, token)
  const chosen = email === undefined ? emails : emails.filter((each) => each === email.toLowerCase())
  if (chosen.length === 0) throw notFound('Recipient')
  const at = needs.now()
  const stopped = state === 'stopped'
  await needs.db.write(async (connection, onCommit) => {
    await connection
      .insertInto('mail_recipients')
      .values(
        chosen.map((each) => ({
          workspace_id: workspaceId,
          email: each,
          confirmed_at: stopped ? null : at,
          stopped_at: stopped ? at : null,
          created_at: at,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'email'])
          .doUpdateSet(stopped ? { stopped_at: at } : { confirmed_at: at, stopped_at: null }),
      )
      .execute()
    if (stopped) return
    // Mails that waited for the confirmation are due now.
    const channels = connection
      .selectFrom('channels')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('type', '=', 'email')
    await connection
      .updateTable('deliveries')
      .set({ due_at: at })
      .where('workspace_id', '=', workspaceId)
      .where('channel_id', 'in', channels)
      .where('status', '=', 'waiting')
      .where('leased_until', 'is', null)
      .execute()
    await connection
      .updateTable('channels')
      .set({ paused_until: null })
      .where('workspace_id', '=', workspaceId)
      .where('type', '=', 'email')
      .execute()
    onCommit(needs.wake)
  })
}

async function getLink(
  { db, links }: Pick<RecipientChoiceNeeds, 'db' | 'links'>,
  token: string,
): Promise<RecipientLink & { workspace: string }> {
  const link = links.readToken(token)
  const workspace =
    link &&
    (await db.read
      .selectFrom('workspaces')
      .select('name')
      .where('id', '=', link.workspaceId)
      .executeTakeFirst())
  if (!link || !workspace) throw notFound('Link')
  return { ...link, workspace: workspace.name }
}
