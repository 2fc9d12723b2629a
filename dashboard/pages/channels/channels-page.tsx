// The list of the workspace's notification channels.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Megaphone, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { channelsQuery } from '../../api/channels.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { ViewerDialog } from '../../shell/viewer.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { focusIfLost, focusNext } from '../../ui/focus.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { usePendingDeletions } from '../../ui/overlays/use-undoable-delete.ts'
import { Page } from '../../ui/page.tsx'
import { QueryState } from '../../ui/query-state.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { ChannelListItem, toRowSelector } from './channel-list-item.tsx'
import { NotificationTabs } from './notification-tabs.tsx'

const ChannelDrawer = lazyPart(() => import('./drawer/channel-drawer.tsx'), 'ChannelDrawer')

export function ChannelsPage() {
  const api = useApi()
  const navigate = useNavigate({ from: '/$workspaceId/notifications' })
  const search = useSearch({ from: '/$workspaceId/notifications' })
  const channels = useQuery(channelsQuery(api))
  const pendingDeletions = usePendingDeletions()
  const shown = channels.data?.data.filter(({ id }) => !pendingDeletions.has(`channel ${id}`))
  const edited = shown?.find(({ id }) => String(id) === search.edit)
  const canEdit = useCanEdit()
  const createButton = canEdit && (
    <Button
      variant="primary"
      data-new-channel
      icon={<Plus size={16} />}
      onClick={() => navigate({ search: { new: '1' } })}
    >
      New channel
    </Button>
  )
  useShortcuts(
    useMemo(
      () => [
        {
          keys: 'n',
          label: 'New channel',
          changes: true,
          run: () => void navigate({ search: { new: '1' } }),
        },
      ],
      [navigate],
    ),
  )
  return (
    <Page
      title="Notifications"
      description="Tell your team about new submissions by email, chat or webhook."
      actions={shown?.length !== 0 && createButton}
    >
      <NotificationTabs current="channels" />
      <QueryState query={channels} rows={4} className="h-18" />
      {shown?.length === 0 && (
        <EmptyState icon={Megaphone} title="No channels yet" action={createButton}>
          Submissions always arrive in the inbox. A channel also notifies your team by email, in Slack,
          Mattermost, Rocket.Chat, Discord, Telegram or Teams, or calls your own service by webhook.
        </EmptyState>
      )}
      {shown && shown.length > 0 && (
        <ul className="divide-y divide-line rounded-2xl border border-line bg-card">
          {shown.map((channel) => (
            <ChannelListItem key={channel.id} channel={channel} />
          ))}
        </ul>
      )}
      {(search.new || search.edit) && !canEdit && <ViewerDialog onClose={() => navigate({ search: {} })} />}
      {(search.new || edited) && canEdit && (
        <ChannelDrawer
          key={edited?.id ?? 'new'}
          channel={edited}
          onClose={(saved) => {
            void navigate({ search: {} })
            focusRow(saved ?? edited?.id)
          }}
        />
      )}
    </Page>
  )
}

/** The next focus after the drawer closes: the channel's row, or the button for a new channel. */
function focusRow(id: number | undefined) {
  if (id === undefined) focusIfLost('[data-new-channel]')
  else focusNext(toRowSelector(id))
}
