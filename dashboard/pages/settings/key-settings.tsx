// The workspace's API keys: create, show once, revoke.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useId, useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { createKey, type KeyResource, keysQuery, revokeKey } from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyableText } from '../../ui/copy/copyable-text.tsx'
import { OneTimeSecretDialog } from '../../ui/copy/one-time-secret-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatDay } from '../../ui/format.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'

export function KeySettings() {
  const api = useApi()
  const { role, plan } = useWorkspace()
  const keys = useQuery({ ...keysQuery(api), enabled: role === 'owner' })
  const [isCreating, setCreating] = useState(false)
  if (role !== 'owner') {
    return (
      <EmptyState icon={<KeyRound size={28} />} title="Only owners can create API keys">
        An API key can do everything in this workspace, and keeps working after its creator has left.
      </EmptyState>
    )
  }
  return (
    <>
      <Card
        title="API keys"
        actions={
          <Button size="small" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
            New key
          </Button>
        }
      >
        <p className="mb-4 text-soft">
          An API key can do everything in this workspace. Treat it like a password.{' '}
          <a href="/docs" className="font-medium text-accent underline-offset-2 hover:underline">
            API reference
          </a>
          {plan === 'free' &&
            '. The Free plan has no API access: API keys are rejected until the plan changes.'}
        </p>
        {keys.isPending && <SkeletonRows rows={2} className="h-12" />}
        {keys.isError && <ErrorState error={keys.error} retry={keys.refetch} />}
        {keys.data?.data.length === 0 && <p className="text-soft">No API keys yet</p>}
        <ul className="divide-y divide-line">
          {keys.data?.data.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      </Card>
      {isCreating && <NewKeyDialog onClose={() => setCreating(false)} />}
    </>
  )
}

function KeyRow({ apiKey }: { apiKey: KeyResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  async function revoke() {
    await revokeKey(api, apiKey.id)
    toast(`${apiKey.name} revoked`)
    await client.invalidateQueries({ queryKey: keysQuery(api).queryKey })
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-44">
        <p className="truncate font-medium">{apiKey.name}</p>
        <p className="text-sm text-soft">
          <code>tp_…{apiKey.lastFour}</code>, created {formatDay(apiKey.createdAt)}
        </p>
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
        <p>Requests with this key stop working at once. You cannot undo this.</p>
      </ConfirmDialog>
    </li>
  )
}

function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const formId = useId()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => createKey(api, name.trim()),
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery(api).queryKey }),
    onError() {},
  })
  if (create.data) return <NewKeySecret apiKey={create.data.key} onClose={onClose} />
  const errors = toFieldErrors(create.error)
  return (
    <Dialog
      open
      onClose={onClose}
      title="New API key"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} busy={create.isPending}>
            Create key
          </Button>
        </>
      }
    >
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <TextField
          label="Name"
          placeholder="Website"
          hint="What you use the key for, so that you know later which key to revoke."
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.name ?? errors.general}
        />
      </form>
    </Dialog>
  )
}

function NewKeySecret({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  const example = `curl ${location.origin}/v1/links -H 'Authorization: Bearer ${apiKey}'`
  return (
    <OneTimeSecretDialog title="Your new API key" text={apiKey} label="Copy key" onClose={onClose}>
      <p className="mt-4 mb-1.5 text-sm text-soft">Try it:</p>
      <CopyableText text={example} label="Copy example" />
    </OneTimeSecretDialog>
  )
}
