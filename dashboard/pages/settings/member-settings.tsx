// The members of the workspace, and the pending invitations.

import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { userQuery, workspacesQuery } from '../../api/session.ts'
import {
  changeRole,
  type InvitationResource,
  invitationsQuery,
  type MemberResource,
  membersQuery,
  removeMember,
  revokeInvitation,
} from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { formatDay } from '../../ui/format.ts'
import { Field } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { QueryState } from '../../ui/query-state.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { ROLE_LABELS, RoleSelect } from './role-select.tsx'
import { SettingsHeading } from './settings-heading.tsx'

export function MemberSettings() {
  const api = useApi()
  const { role } = useWorkspace()
  const members = useQuery(membersQuery(api))
  const [isInviting, setInviting] = useState(false)
  return (
    <>
      <SettingsHeading
        title="Members"
        description="Members work with links, forms, submissions, tags and channels. Owners can also invite members, create API keys, read the audit log, and rename or delete the workspace. Viewers see what members see, and change nothing."
        actions={
          role === 'owner' && (
            <Button variant="primary" icon={<UserPlus size={16} />} onClick={() => setInviting(true)}>
              Invite
            </Button>
          )
        }
      />
      <Card>
        <QueryState query={members} rows={2} className="h-12" />
        <ul className="-my-3 divide-y divide-line">
          {members.data?.data.map((member) => (
            <MemberRow key={member.userId} member={member} />
          ))}
        </ul>
      </Card>
      {role === 'owner' && <Invitations />}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}

function MemberRow({ member }: { member: MemberResource }) {
  const api = useApi()
  const client = useQueryClient()
  const { role } = useWorkspace()
  const { data: user } = useSuspenseQuery(userQuery)
  const isSelf = String(member.userId) === String(user?.id)
  const change = useMutation({
    mutationFn: (next: MemberResource['role']) => changeRole(api, member.userId, next),
    onSuccess: () => toast(`Role of ${member.name} changed`),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: membersQuery(api).queryKey }),
        client.invalidateQueries({ queryKey: workspacesQuery.queryKey }),
      ]),
  })
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-44">
        <p className="truncate font-medium">
          {member.name} {isSelf && <Badge>You</Badge>}
        </p>
        <p className="truncate text-sm text-soft">{member.email}</p>
      </div>
      {role === 'owner' ? (
        <Field label={`Role of ${member.name}`} hideLabel className="w-32">
          {(control) => (
            <RoleSelect
              {...control}
              value={change.isPending ? change.variables : member.role}
              // A disabled list would lose the focus.
              onChange={(next) => change.isPending || change.mutate(next)}
            />
          )}
        </Field>
      ) : (
        <Badge>{ROLE_LABELS[member.role]}</Badge>
      )}
      {(role === 'owner' || isSelf) && <RemoveButton member={member} isSelf={isSelf} />}
    </li>
  )
}

function RemoveButton({ member, isSelf }: { member: MemberResource; isSelf: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { name: workspace } = useWorkspace()
  const [isConfirming, setConfirming] = useState(false)
  async function remove() {
    await removeMember(api, member.userId)
    if (!isSelf) return client.invalidateQueries({ queryKey: membersQuery(api).queryKey })
    await client.fetchQuery({ ...workspacesQuery, staleTime: 0 })
    return navigate({ to: '/' })
  }
  return (
    <>
      <Button size="small" onClick={() => setConfirming(true)}>
        {isSelf ? 'Leave' : 'Remove'}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={isSelf ? `Leave ${workspace}?` : `Remove ${member.name}?`}
        action={isSelf ? 'Leave' : 'Remove'}
        onConfirm={remove}
      >
        <p>
          {isSelf
            ? 'You lose access to this workspace until someone invites you again.'
            : `${member.email} loses access to this workspace. Everything they created stays.`}
        </p>
      </ConfirmDialog>
    </>
  )
}

function Invitations() {
  const api = useApi()
  const client = useQueryClient()
  const invitations = useQuery(invitationsQuery(api))
  const revoke = useMutation({
    mutationFn: ({ id }: InvitationResource) => revokeInvitation(api, id),
    onSuccess: ({ email }) => toast(`Invitation for ${email} revoked`),
    onSettled: () => client.invalidateQueries({ queryKey: invitationsQuery(api).queryKey }),
  })
  const pending = invitations.data?.data ?? []
  if (pending.length === 0) return null
  return (
    <Card title="Pending invitations">
      <ul className="-my-3 divide-y divide-line">
        {pending.map((invitation) => (
          <li key={invitation.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
            <div className="min-w-0 flex-1 basis-44">
              <p className="truncate font-medium">{invitation.email}</p>
              <p className="text-sm text-soft">
                {ROLE_LABELS[invitation.role]}, expires {formatDay(invitation.expiresAt)}
              </p>
            </div>
            <Button size="small" busy={revoke.isPending} onClick={() => revoke.mutate(invitation)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  )
}
