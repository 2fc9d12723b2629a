// The settings of the workspace: name, snippet, plan and usage, deletion.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { userQuery, workspacesQuery } from '../../api/session.ts'
import { deleteWorkspace, updateWorkspace, workspaceQuery } from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyableText } from '../../ui/copy/copyable-text.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatDay, formatNumber } from '../../ui/format.ts'
import { TextField, Toggle } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { BrandSettings } from './brand-settings.tsx'
import { SettingsHeading } from './settings-heading.tsx'
import { TrafficSettings } from './traffic-settings.tsx'

/** The usage of the rate limit changes within a minute. */
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
      <SettingsHeading title="Workspace" />
      <Name name={data.name} mayChange={role === 'owner'} />
      <BrandSettings brand={data.brand} mayChange={role === 'owner'} />
      <TrafficSettings lists={data} mayChange={role === 'owner'} />
      {role === 'owner' && <Security isRequired={data.requireTwoFactor} />}
      <Card title="Tracking snippet">
        <p className="mb-3 text-soft">
          Add this line to the head of every page of your site. It records visits without cookies, so each
          submission shows which link brought it. It also lets people stay on the page when they send a form.
        </p>
        <CopyableText text={data.snippet} label="Copy snippet" />
      </Card>
      <Card title="Plan and usage">
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
          <Row name="Created">{formatDay(data.createdAt)}</Row>
        </dl>
        <p className="mt-4 text-sm text-soft">
          The plan limits the API, not the dashboard. The operator of this server can change the plan:{' '}
          <code>npx towpath workspace plan {data.id} enterprise</code>
        </p>
      </Card>
      {role === 'owner' && <DeleteWorkspace name={data.name} />}
    </>
  )
}

const TransferLink = ({ tab, children }: { tab?: 'export'; children: string }) => (
  <Link
    from="/$workspaceId/settings"
    to="/$workspaceId/settings/transfer"
    search={{ tab }}
    className="font-medium text-accent underline-offset-2 hover:underline"
  >
    {children}
  </Link>
)

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
    mutationFn: () => updateWorkspace(api, { name: text.trim() }),
    onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      toast('Workspace renamed')
      return client.invalidateQueries({ queryKey: workspacesQuery.queryKey })
    },
    onError() {},
  })
  const errors = toFieldErrors(save.error, ['name'])
  return (
    <Card title="Name">
      <Form className="flex flex-wrap items-end gap-2" onSubmit={() => save.mutate()}>
        <TextField
          label="Workspace name"
          className="flex-1 basis-56"
          value={text}
          required
          maxLength={100}
          disabled={!mayChange}
          hint={mayChange ? undefined : 'Only owners can change the name.'}
          error={errors.name ?? errors.general}
          onChange={(event) => setText(event.target.value)}
        />
        {mayChange && (
          <Button type="submit" variant="primary" busy={save.isPending} disabled={text.trim() === name}>
            Save
          </Button>
        )}
      </Form>
    </Card>
  )
}

function Security({ isRequired }: { isRequired: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const { data: user } = useQuery(userQuery)
  const save = useMutation({
    mutationFn: (requireTwoFactor: boolean) => updateWorkspace(api, { requireTwoFactor }),
    onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      toast(saved.requireTwoFactor ? 'Two-factor sign-in is required' : 'Two-factor sign-in is optional')
      return client.invalidateQueries({ queryKey: workspacesQuery.queryKey })
    },
    onError() {},
  })
  const errors = toFieldErrors(save.error, ['requireTwoFactor'])
  const mayTurnOn = isRequired || user?.secondFactor
  return (
    <Card title="Security">
      <Toggle
        label="Require two-factor sign-in"
        hint={
          mayTurnOn
            ? 'Members without a second factor can’t use this workspace until they set one up. API keys keep working.'
            : 'Set up your own second factor first, in Settings > Account.'
        }
        checked={save.isPending ? save.variables : isRequired}
        disabled={!mayTurnOn}
        // A disabled switch would lose the focus.
        onChange={(event) => save.isPending || save.mutate(event.target.checked)}
      />
      {save.error && (
        <p role="alert" className="mt-2 text-sm text-danger">
          {errors.requireTwoFactor ?? save.error.message}
        </p>
      )}
    </Card>
  )
}

function DeleteWorkspace({ name }: { name: string }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  async function handleDelete() {
    await deleteWorkspace(api, name)
    client.removeQueries({ queryKey: [api.workspaceId] })
    await client.fetchQuery({ ...workspacesQuery, staleTime: 0 })
    toast(`${name} deleted`)
    await navigate({ to: '/' })
  }
  return (
    <section className="rounded-2xl border border-danger p-4 sm:p-5">
      <h2 className="font-semibold">Delete workspace</h2>
      <p className="mt-1 mb-4 text-soft">
        All short links stop working immediately. Links, clicks, forms, submissions and API keys are deleted.
        You can’t undo this. <TransferLink tab="export">Export everything first</TransferLink>.
      </p>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        Delete workspace
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${name}?`}
        action="Delete permanently"
        mustType={name}
        onConfirm={handleDelete}
      >
        <p>Every short link of this workspace will show “Link not found”, and all data is deleted.</p>
      </ConfirmDialog>
    </section>
  )
}
