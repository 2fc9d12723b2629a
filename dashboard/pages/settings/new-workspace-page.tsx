// Another workspace; and the first one, for somebody who is in none.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { userQuery, workspacesQuery } from '../../api/session.ts'
import { createWorkspace } from '../../api/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { CenteredPage } from '../sign-in/centered-page.tsx'
import { toFieldErrors } from './field-errors.ts'

export function NewWorkspacePage() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: user, isSuccess } = useQuery(userQuery)
  const { data: workspaces } = useQuery({ ...workspacesQuery, enabled: Boolean(user) })
  const [name, setName] = useState('')
  const make = useMutation({
    mutationFn: () => createWorkspace(name.trim()),
    async onSuccess({ id }) {
      await client.fetchQuery({ ...workspacesQuery, staleTime: 0 })
      await navigate({ to: '/$workspaceId/links', params: { workspaceId: String(id) }, search: {} })
    },
    onError() {},
  })
  const errors = toFieldErrors(make.error)
  if (isSuccess && !user) {
    return (
      <CenteredPage
        title="Sign in first"
        footer={
          <Link to="/sign-in" search={{ next: '/app/new-workspace' }} className={TEXT_LINK}>
            Sign in
          </Link>
        }
      />
    )
  }
  return (
    <CenteredPage
      title="New workspace"
      description="Links, forms, people and keys of one team or client. Nothing is shared between workspaces."
      footer={
        workspaces && workspaces.length > 0 ? (
          <Link to="/" className={TEXT_LINK}>
            Back
          </Link>
        ) : undefined
      }
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <TextField
          label="Name"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.name ?? errors.all}
        />
        <Button type="submit" look="primary" busy={make.isPending || make.isSuccess}>
          Make workspace
        </Button>
      </form>
    </CenteredPage>
  )
}
