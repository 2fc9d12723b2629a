// API keys: made, shown once, ended.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useId, useState } from 'react'
import { createKey, type KeyResource, keysQuery, revokeKey } from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText, OneTimeSecretDialog } from '../../ui/copy/one-time-secret-dialog.tsx'
import { formatDay } from '../../ui/format.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { toFieldErrors } from './field-errors.ts'

export function KeySettings() {
  const api = useApi()
  const { role, plan } = useWorkspace()
  const keys = useQuery({ ...keysQuery(api), enabled: role === 'owner' })
  const [making, setMaking] = useState(false)
  if (role !== 'owner') {
    return (
      <EmptyState icon={<KeyRound size={28} />} title="Owners make API keys">
        A key may do everything in this workspace and outlives whoever made it, so only owners can make one.
      </EmptyState>
    )
  }
  return (
    <>
      <Card
        title="API keys"
        actions={
          <Button size="small" icon={<Plus size={15} />} onClick={() => setMaking(true)}>
            New key
          </Button>
        }
      >
        <p className="mb-4 text-soft">
          A key may do everything in this workspace. Treat it like a password.{' '}
          <a href="/docs" className="font-medium text-accent underline-offset-2 hover:underline">
            API reference
          </a>
          {plan === 'free' && ' The Free plan has no API access: keys are refused until the plan changes.'}
        </p>
        {keys.isPending && <SkeletonRows rows={2} className="h-12" />}
        {keys.isError && <ErrorState error={keys.error} retry={keys.refetch} />}
        {keys.data?.data.length === 0 && <p className="text-soft">There is no key yet.</p>}
        <ul className="divide-y divide-line">
          {keys.data?.data.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      </Card>
      {making && <NewKeyDialog onClose={() => setMaking(false)} />}
    </>
  )
}

function KeyRow({ apiKey }: { apiKey: KeyResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  async function revoke() {
    await revokeKey(api, apiKey.id)
    toast(`${apiKey.name} is revoked`)
    await client.invalidateQueries({ queryKey: keysQuery(api).queryKey })
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-44">
        <p className="truncate font-medium">{apiKey.name}</p>
        <p className="text-sm text-soft">
          <code>tp_…{apiKey.lastFour}</code>, made {formatDay(apiKey.createdAt)}
        </p>
      </div>
      <p className="text-sm text-soft">
        {apiKey.lastUsedAt ? (
          <>
            Used <RelativeTime at={apiKey.lastUsedAt} />
          </>
        ) : (
          'Never used'
        )}
      </p>
      <Button size="small" onClick={() => setAsking(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Revoke ${apiKey.name}?`}
        action="Revoke"
        onConfirm={revoke}
      >
        <p>The very next request with it is refused. This cannot be taken back.</p>
      </ConfirmDialog>
    </li>
  )
}

function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const formId = useId()
  const [name, setName] = useState('')
  const make = useMutation({
    mutationFn: () => createKey(api, name.trim()),
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery(api).queryKey }),
    onError() {},
  })
  if (make.data) return <NewKeySecret apiKey={make.data.key} onClose={onClose} />
  const errors = toFieldErrors(make.error)
  return (
    <Dialog
      open
      onClose={onClose}
      title="New API key"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={formId} busy={make.isPending}>
            Make key
          </Button>
        </>
      }
    >
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <TextField
          label="Name"
          placeholder="Website"
          hint="What it is for, so that you know which one to end."
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.name ?? errors.all}
        />
      </form>
    </Dialog>
  )
}

function NewKeySecret({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  const example = `curl ${location.origin}/v1/links -H 'Authorization: Bearer ${apiKey}'`
  return (
    <OneTimeSecretDialog title="Your new key" text={apiKey} label="Copy the key" onClose={onClose}>
      <p className="mt-4 mb-1.5 text-sm text-soft">Try it:</p>
      <CopyableText text={example} label="Copy the example" />
    </OneTimeSecretDialog>
  )
}
