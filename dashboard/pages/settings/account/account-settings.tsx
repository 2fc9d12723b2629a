// The user's own account: name, address, password, second factors, sessions, and its deletion.

import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeEmail,
  changePassword,
  endOtherSessions,
  endSession,
  renameUser,
  sessionsQuery,
} from '../../../api/account.ts'
import { toFieldErrors } from '../../../api/client.ts'
import { factorsQuery } from '../../../api/second-factor.ts'
import { signInOptionsQuery, userQuery } from '../../../api/session.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatDay } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { NewPasswordField } from '../../../ui/forms/new-password-field.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { QueryState } from '../../../ui/query-state.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { SettingsHeading } from '../settings-heading.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { LanguageChoice } from './language-choice.tsx'
import { TwoFactorSettings } from './two-factor-settings.tsx'

export const AccountSettings = () => (
  <>
    <SettingsHeading
      title="Account"
      description="Your own sign-in and language, the same in every workspace."
    />
    <Name />
    <LanguageChoice />
    <Email />
    <Password />
    <TwoFactorSettings />
    <SessionList />
    <DeleteAccount />
  </>
)

/** The person's sessions: where they are signed in, and an end to it. */
function SessionList() {
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const refresh = () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
  const end = useMutation({ mutationFn: endSession, onSettled: refresh })
  const endOthers = useMutation({
    mutationFn: endOtherSessions,
    onSuccess: () => toast('Your other sessions are signed out'),
    onSettled: refresh,
  })
  const list = sessions.data ?? []
  return (
    <Card
      title="Sessions"
      actions={
        list.length > 1 && (
          <Button size="small" busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            Sign out other sessions
          </Button>
        )
      }
    >
      <QueryState query={sessions} rows={2} className="h-12" />
      <ul className="-my-3 divide-y divide-line">
        {list.map((session) => {
          const isCurrent = session.current
          return (
            <li key={session.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <div className="min-w-0 flex-1 basis-44">
                <p className="truncate font-medium">
                  {session.browser} {isCurrent && <Badge tone="good">This device</Badge>}
                </p>
                <p className="text-sm text-soft">
                  Signed in {formatDay(session.createdAt)}, active <RelativeTime at={session.lastUsedAt} />
                </p>
              </div>
              {!isCurrent && (
                <Button size="small" busy={end.isPending} onClick={() => end.mutate(session.id)}>
                  Sign out
                </Button>
              )}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function Name() {
  const client = useQueryClient()
  const { data: user } = useSuspenseQuery(userQuery)
  const [name, setName] = useState(user?.name ?? '')
  const save = useMutation({
    mutationFn: () => renameUser(name.trim()),
    onSuccess() {
      toast('Name saved')
      return client.invalidateQueries({ queryKey: userQuery.queryKey })
    },
    onError() {},
  })
  const errors = toFieldErrors(save.error, ['name'])
  return (
    <Card title="Profile">
      <Form className="flex flex-wrap items-end gap-2" onSubmit={() => save.mutate()}>
        <TextField
          label="Name"
          className="flex-1 basis-56"
          required
          maxLength={100}
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.name ?? errors.general}
        />
        <Button type="submit" variant="primary" busy={save.isPending} disabled={name.trim() === user?.name}>
          Save
        </Button>
      </Form>
    </Card>
  )
}

function Email() {
  const { data: user } = useSuspenseQuery(userQuery)
  const { data: options } = useQuery(signInOptionsQuery)
  const [email, setEmail] = useState('')
  const change = useMutation({ mutationFn: () => changeEmail(email), onError() {} })
  const errors = toFieldErrors(change.error, ['newEmail'])
  return (
    <Card title="Email address">
      <p className="mb-3 break-words">
        You sign in as <strong>{user?.email}</strong>.
      </p>
      {options?.mail === false ? (
        <p className="text-sm text-soft">
          This server can’t send email, so a new address can’t be confirmed.
        </p>
      ) : (
        <Form className="flex flex-wrap items-end gap-2" onSubmit={() => change.mutate()}>
          <TextField
            label="New email address"
            className="flex-1 basis-56"
            type="email"
            required
            maxLength={254}
            autoComplete="email"
            value={email}
            onChange={(event) => {
              setEmail(event.target.value)
              change.reset()
            }}
            error={errors.newEmail ?? errors.general}
          />
          <Button type="submit" variant="primary" busy={change.isPending} disabled={change.isSuccess}>
            Change
          </Button>
        </Form>
      )}
      <p role="status" className={change.isSuccess ? 'mt-3 text-sm' : 'sr-only'}>
        {change.isSuccess && `Open the link we sent to ${email} within an hour. Until then, nothing changes.`}
      </p>
    </Card>
  )
}

function Password() {
  const { data: user } = useSuspenseQuery(userQuery)
  const { data: factors } = useQuery(factorsQuery)
  const client = useQueryClient()
  const [changes, setChanges] = useState(0)
  const change = useMutation({
    mutationFn: changePassword,
    onSuccess() {
      toast('Password changed. Your other sessions are signed out.')
      setChanges(changes + 1)
      return client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
    onError() {},
  })
  const errors = toFieldErrors(change.error, ['currentPassword', 'newPassword'])
  // People who sign in at the identity provider have none.
  if (factors?.password === false) return null
  const submit = (fields: FormData) =>
    change.mutate({
      currentPassword: String(fields.get('current')),
      newPassword: String(fields.get('new')),
    })
  return (
    <Card title="Password">
      {/* A new key empties the fields. */}
      <Form key={changes} className="grid max-w-sm gap-4" onSubmit={submit}>
        <TextField
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
          error={errors.currentPassword ?? errors.general}
        />
        <NewPasswordField
          label="New password"
          name="new"
          secondFactor={user?.secondFactor}
          error={errors.newPassword}
        />
        <div>
          <Button type="submit" variant="primary" busy={change.isPending}>
            Change password
          </Button>
        </div>
      </Form>
    </Card>
  )
}
