// The workspace's API keys: create, show once, revoke.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { type KeyResource, keysQuery, revokeKey } from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatDay } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { toScopeText } from './key-scopes.ts'
import { SettingsHeading } from './settings-heading.tsx'

const NewKeyDialog = lazyPart(() => import('./new-key-dialog.tsx'), 'NewKeyDialog')

export function KeySettings() {
  const api = useApi()
  const { role, plan } = useWorkspace()
  const keys = useQuery({ ...keysQuery(api), enabled: role === 'owner' })
  const [isCreating, setCreating] = useState(false)
  const rows = keys.data?.data ?? []
  const createButton = (
    <Button variant="primary" icon={<Plus size={16} />} onClick={() => setCreating(true)}>
      New key
    </Button>
  )
  return (
    <>
      <SettingsHeading
        title="API keys"
        description={
          <>
            An API key gives a program access to this workspace. Treat it like a password.{' '}
            <a href="/docs" className="font-medium text-accent underline-offset-2 hover:underline">
              API reference
            </a>
            {plan === 'free' &&
              '. The Free plan has no API access: API keys are rejected until the plan changes.'}
          </>
        }
        actions={rows.length > 0 && createButton}
      />
      {role !== 'owner' && (
        <EmptyState icon={KeyRound} title="Only owners can create API keys">
          A key keeps working after its creator has left.
        </EmptyState>
      )}
      {keys.isLoading && <SkeletonRows rows={2} className="h-12" />}
      {keys.isError && <ErrorState error={keys.error} retry={keys.refetch} />}
      {keys.data && rows.length === 0 && (
        <EmptyState icon={KeyRound} title="No API keys yet" action={createButton}>
          Create one for each program that uses the API, so that you can revoke it alone.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Card>
          <ul aria-label="API keys" className="-my-3 divide-y divide-line">
            {rows.map((key) => (
              <KeyRow key={key.id} apiKey={key} />
            ))}
          </ul>
        </Card>
      )}
      {isCreating && <NewKeyDialog onClose={() => setCreating(false)} />}
    </>
  )
}

function KeyRow({ apiKey }: { apiKey: KeyResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const isExpired = apiKey.expiresAt !== null && Date.parse(apiKey.expiresAt) <= Date.now()
  async function revoke() {
    await revokeKey(api, apiKey.id)
    toast(`${apiKey.name} revoked`)
    await client.invalidateQueries({ queryKey: keysQuery(api).queryKey })
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-44">
        <p className="flex items-center gap-2">
          <span className="truncate font-medium">{apiKey.name}</span>
          {isExpired && <Badge tone="bad">Expired</Badge>}
        </p>
        <p className="text-sm text-soft">
          <code>tp_…{apiKey.lastFour}</code>, created {formatDay(apiKey.createdAt)}
          {apiKey.expiresAt && !isExpired && <>, expires {formatDay(apiKey.expiresAt)}</>}
        </p>
        <p className="text-sm break-words text-soft">{toScopeText(apiKey.scopes)}</p>
      </div>
      <p className="text-sm text-soft">
        {apiKey.lastUsedAt ? (
          <>
            Last used <RelativeTime at={apiKey.lastUsedAt} />
          </>
        ) : (
          'Never used'
        )}
      </p>
      <Button size="small" onClick={() => setConfirming(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Revoke ${apiKey.name}?`}
        action="Revoke"
        onConfirm={revoke}
      >
        <p>Requests with this key stop working immediately. You can’t undo this.</p>
      </ConfirmDialog>
    </li>
  )
}
