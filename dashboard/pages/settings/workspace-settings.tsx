// The workspace itself: its name, its snippet, what its plan allows, and its end.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { workspacesQuery } from '../../api/session.ts'
import { deleteWorkspace, renameWorkspace, workspaceQuery } from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copy/one-time-secret-dialog.tsx'
import { formatDay, formatNumber } from '../../ui/format.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card } from '../../ui/page.tsx'
import { ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { toFieldErrors } from './field-errors.ts'

/** What the plan allows is used up and free again within a minute. */
const REFRESH_MS = 5000

export function WorkspaceSettings() {
  const api = useApi()
  const { role } = useWorkspace()
  const workspace = useQuery({ ...workspaceQuery(api), refetchInterval: REFRESH_MS })
  if (workspace.isPending) return <SkeletonRows rows={3} className="h-40" />
  if (workspace.isError) return <ErrorState error={workspace.error} retry={workspace.refetch} />
  const { data } = workspace
  return (
    <>
      <Name name={data.name} mayChange={role === 'owner'} />
      <Card title="Tracking snippet">
        <p className="mb-3 text-soft">
          In the head of every page of your site. It records visits without cookies, so that each submission
          knows which link brought it, and it shows messages of your forms in place.
        </p>
        <CopyableText text={data.snippet} label="Copy the snippet" />
      </Card>
      <Card title="Plan and contents">
        <dl className="grid grid-cols-[1fr_auto] gap-y-2">
          <Row name="Plan">{data.plan.replace(/^./, (letter) => letter.toUpperCase())}</Row>
          <Row name="API requests in the last minute">
            {data.requestsPerMinute === 0
              ? 'No API access'
              : `${formatNumber(data.requestsLastMinute)} of ${formatNumber(data.requestsPerMinute)}`}
          </Row>
          <Row name="Links">{formatNumber(data.links)}</Row>
          <Row name="Forms">{formatNumber(data.forms)}</Row>
          <Row name="Submissions">{formatNumber(data.submissions)}</Row>
          <Row name="Members">{formatNumber(data.members)}</Row>
          <Row name="API keys">{formatNumber(data.keys)}</Row>
          <Row name="Since">{formatDay(data.createdAt)}</Row>
        </dl>
        <p className="mt-4 text-sm text-soft">
          The dashboard is not limited by the plan. Whoever runs this server changes it with{' '}
          <code>npm run -s towpath -- workspace plan {data.id} enterprise</code>
        </p>
      </Card>
      {role === 'owner' && <DeleteWorkspace name={data.name} />}
    </>
  )
}

const Row = ({ name, children }: { name: string; children: string }) => (
  <div className="col-span-2 grid grid-cols-subgrid">
    <dt className="text-soft">{name}</dt>
    <dd className="text-right tabular-nums">{children}</dd>
  </div>
)

function Name({ name, mayChange }: { name: string; mayChange: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const [text, setText] = useState(name)
  const save = useMutation({
    mutationFn: () => renameWorkspace(api, text.trim()),
    onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      toast('Workspace renamed')
      return client.invalidateQueries({ queryKey: workspacesQuery.queryKey })
    },
    onError() {},
  })
  return (
    <Card title="Name">
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <TextField
          label="Name of the workspace"
          className="flex-1 basis-56"
          value={text}
          required
          maxLength={100}
          disabled={!mayChange}
          hint={mayChange ? undefined : 'Owners may change it.'}
          error={toFieldErrors(save.error).name ?? toFieldErrors(save.error).all}
          onChange={(event) => setText(event.target.value)}
        />
        {mayChange && (
          <Button type="submit" look="primary" busy={save.isPending} disabled={text.trim() === name}>
            Save
          </Button>
        )}
      </form>
    </Card>
  )
}

function DeleteWorkspace({ name }: { name: string }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  async function end() {
    await deleteWorkspace(api, name)
    client.removeQueries({ queryKey: [api.workspaceId] })
    await client.fetchQuery({ ...workspacesQuery, staleTime: 0 })
    toast(`${name} is deleted`)
    await navigate({ to: '/' })
  }
  return (
    <section className="rounded-2xl border border-danger p-4 sm:p-5">
      <h2 className="font-semibold">Delete the workspace</h2>
      <p className="mt-1 mb-4 text-soft">
        Its links stop at once. Links, clicks, forms, submissions and keys are removed, and nothing brings
        them back.
      </p>
      <Button look="danger" onClick={() => setAsking(true)}>
        Delete workspace
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${name}?`}
        action="Delete for good"
        mustType={name}
        onConfirm={end}
      >
        <p>Every short link of this workspace will answer “not found”, and all its data is removed.</p>
      </ConfirmDialog>
    </section>
  )
}
