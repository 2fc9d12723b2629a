// Where the team is told of submissions: the channels of the workspace.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Megaphone, Plus } from 'lucide-react'
import { lazy, Suspense, useMemo } from 'react'
import { channelsQuery } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { usePendingDeletions } from '../../ui/overlays/use-undoable-delete.ts'
import { Page } from '../../ui/page.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { ChannelListItem } from './channel-list-item.tsx'

const ChannelDrawer = lazy(() => import('./channel-drawer.tsx').then((m) => ({ default: m.ChannelDrawer })))

export function ChannelsPage() {
  const api = useApi()
  const navigate = useNavigate({ from: '/$workspaceId/channels' })
  const search = useSearch({ from: '/$workspaceId/channels' })
  const channels = useQuery(channelsQuery(api))
  const leaving = usePendingDeletions()
  const shown = channels.data?.data.filter(({ id }) => !leaving.has(`channel ${id}`))
  const edited = shown?.find(({ id }) => String(id) === search.edit)
  const create = () => navigate({ search: { new: '1' } })
  useShortcuts(
    useMemo(
      () => [{ keys: 'n', label: 'New channel', run: () => void navigate({ search: { new: '1' } }) }],
      [navigate],
    ),
  )
  return (
    <Page
      title="Channels"
      description="Where your team is told of new submissions. Each form chooses its own."
      actions={
        <Button look="primary" icon={<Plus size={16} />} onClick={create}>
          New channel
        </Button>
      }
    >
      {channels.isPending && <SkeletonRows rows={4} className="h-18" />}
      {channels.isError && <ErrorState error={channels.error} retry={channels.refetch} />}
      {shown?.length === 0 && (
        <EmptyState
          icon={<Megaphone size={32} />}
          title="Nobody is told yet"
          action={
            <Button look="primary" icon={<Plus size={16} />} onClick={create}>
              New channel
            </Button>
          }
        >
          Submissions are in the inbox either way. A channel tells your team at once: by mail, in Slack,
          Discord, Telegram or Teams, or your own service by a webhook.
        </EmptyState>
      )}
      {shown && shown.length > 0 && (
        <ul className="divide-y divide-line rounded-2xl border border-line bg-card">
          {shown.map((channel) => (
            <ChannelListItem key={channel.id} channel={channel} />
          ))}
        </ul>
      )}
      <Suspense>
        {(search.new || edited) && (
          <ChannelDrawer
            key={edited?.id ?? 'new'}
            channel={edited}
            onClose={() => navigate({ search: {} })}
          />
        )}
      </Suspense>
    </Page>
  )
}
