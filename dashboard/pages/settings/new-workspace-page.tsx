// The page that creates a workspace: a further one, or the first one of a user without a workspace.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { userQuery, workspacesQuery } from '../../api/session.ts'
import { createWorkspace } from '../../api/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { CenteredPage } from '../sign-in/centered-page.tsx'

export function NewWorkspacePage() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: user, isSuccess } = useQuery(userQuery)
  const { data: workspaces } = useQuery({ ...workspacesQuery, enabled: Boolean(user) })
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => createWorkspace(name.trim()),
    async onSuccess({ id }) {
      await client.fetchQuery({ ...workspacesQuery, staleTime: 0 })
      await navigate({ to: '/$workspaceId/links', params: { workspaceId: String(id) }, search: {} })
    },
    onError() {},
  })
  const errors = toFieldErrors(create.error, ['name'])
  if (isSuccess && !user) {
    return (
      <CenteredPage
        title="Sign in first"
        footer={
          <Link to="/sign-in" search={{ next: '/app/new-workspace' }} className="text-link">
            Sign in
          </Link>
        }
      />
    )
  }
  return (
    <CenteredPage
      title="New workspace"
      description="Links, forms, members and API keys of one team or client. Workspaces share nothing."
      footer={
        workspaces && workspaces.length > 0 ? (
          <Link to="/" className="text-link">
            Back
          </Link>
        ) : undefined
      }
    >
      <Form className="grid gap-4" onSubmit={() => create.mutate()}>
        <TextField
          label="Name"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.name ?? errors.general}
        />
        <Button type="submit" variant="primary" busy={create.isPending || create.isSuccess}>
          Create workspace
        </Button>
      </Form>
    </CenteredPage>
  )
}
