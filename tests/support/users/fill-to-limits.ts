// Fills a workspace with rows up to its limits (server/features/accounts/access/workspace-limits.ts).

import type { TestServer } from '../world.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** The workspace is full of keys, members, invitations, channels, forms and tags, and its owner owns 20 workspaces. */
export async function fillToLimits(server: TestServer, workspaceId: number, ownerId: number): Promise<void> {
  const at = Date.now()
  const times = { created_at: at, updated_at: at }
  const own = { workspace_id: workspaceId }
  await server.app.db.write(async (connection) => {
    const count = async (table: 'api_keys' | 'members' | 'invitations' | 'channels' | 'forms' | 'tags') => {
      const rows = connection.selectFrom(table).select((e) => e.fn.countAll<number>().as('n'))
      return Number((await rows.where('workspace_id', '=', workspaceId).executeTakeFirstOrThrow()).n)
    }
    const keys = numbers(100 - (await count('api_keys'))).map((n) => ({
      ...own,
      name: `Key ${n}`,
      hash: `${workspaceId} ${n}`,
      last_four: 'xxxx',
      created_at: at,
    }))
    await connection.insertInto('api_keys').values(keys).execute()
    const users = await connection
      .insertInto('users')
      .values(
        numbers(500 - (await count('members'))).map((n) => ({
          email: `${workspaceId}-${n}@full.example`,
          name: `${n}`,
          ...times,
        })),
      )
      .returning('id')
      .execute()
    const members = users.map(({ id }) => ({ ...own, user_id: id, role: 'viewer', created_at: at }))
    await connection.insertInto('members').values(members).execute()
    const invitations = numbers(500 - (await count('invitations'))).map((n) => ({
      ...own,
      email: `${n}@full.example`,
      role: 'member',
      token_hash: `${workspaceId} ${n}`,
      created_at: at,
      expires_at: at + 60_000,
    }))
    await connection.insertInto('invitations').values(invitations).execute()
    const senders = numbers(1000).map((n) => ({ ...own, address: `${n}@full.example`, created_at: at }))
    await connection.insertInto('allowed_senders').values(senders).execute()
    const channels = numbers(200 - (await count('channels'))).map((n) => ({
      ...own,
      type: 'webhook',
      name: `${n}`,
      recipients: '[]',
      enabled: 1,
      ...times,
    }))
    await connection.insertInto('channels').values(channels).execute()
    const tags = numbers(5000 - (await count('tags'))).map((n) => ({
      ...own,
      name: `${n}`,
      name_key: `${n}`,
      color: 'gray',
      created_at: at,
    }))
    await connection.insertInto('tags').values(tags).execute()
    const templates = numbers(200).map((n) => ({
      ...own,
      name: `${n}`,
      name_key: `${n}`,
      utm_source: 'x',
      ...times,
    }))
    await connection.insertInto('utm_templates').values(templates).execute()
    const settings = { filters: '{}', timezone: 'UTC', model: 'last' }
    const views = numbers(500).map((n) => ({ ...own, name: `${n}`, ...settings, ...times }))
    await connection.insertInto('views').values(views).execute()
    const workspaces = await connection
      .insertInto('workspaces')
      .values(
        numbers(19).map((n) => ({
          public_id: `ws_${workspaceId}_${n}`,
          name: `${n}`,
          plan: 'pro',
          ...times,
        })),
      )
      .returning('id')
      .execute()
    const owned = workspaces.map(({ id }) => ({
      workspace_id: id,
      user_id: ownerId,
      role: 'owner',
      created_at: at,
    }))
    await connection.insertInto('members').values(owned).execute()
    const forms = numbers(1000 - (await count('forms'))).map((n) => ({
      ...own,
      form_key: `full${workspaceId}x${n}`,
      name: `${n}`,
      ...times,
    }))
    await connection.insertInto('forms').values(forms).execute()
  })
}
