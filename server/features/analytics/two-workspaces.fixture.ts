// Links and tags of two workspaces, for tests of what analytics answer.

import { linkRow, tagRow, workspaceRow } from '../../../tests/support/test-rows.ts'

export const ASKED_AT = Date.parse('2026-03-30T10:00:00Z')
export const BEGAN = Date.parse('2026-01-15T08:00:00Z')

const linkTag = (link_id: number, tag_id: number, workspace_id = 1) => ({ link_id, tag_id, workspace_id })

export const TWO_WORKSPACES = {
  workspaces: [1, 2].map((id) => workspaceRow({ id, created_at: BEGAN })),
  links: [
    linkRow({ id: 1, slug: 'Spring' }),
    linkRow({ id: 2, domain: 'go.example.com', slug: 'spring' }),
    linkRow({ id: 3, slug: 'old', deleted_at: ASKED_AT }),
    linkRow({ id: 4, workspace_id: 2, slug: 'theirs' }),
  ],
  tags: [
    tagRow({ id: 1, name: 'Mail' }),
    tagRow({ id: 2, name: 'Ads' }),
    tagRow({ id: 3, workspace_id: 2, name: 'Theirs' }),
  ],
  link_tags: [linkTag(1, 1), linkTag(1, 2), linkTag(3, 1), linkTag(4, 3, 2)],
}
