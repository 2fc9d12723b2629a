// Who is in the workspace, and who was invited.

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
import { formatDay } from '../../ui/format.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card } from '../../ui/page.tsx'
import { ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { InviteDialog } from './invite-dialog.tsx'

export function MemberSettings() {
  const api = useApi()
  const { role } = useWorkspace()
  const members = useQuery(membersQuery(api))
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <Card
        title="Members"
        actions={
          role === 'owner' && (
            <Button size="small" icon={<UserPlus size={15} />} onClick={() => setInviting(true)}>
              Invite
            </Button>
          )
        }
      >
        {members.isPending && <SkeletonRows rows={2} className="h-12" />}
        {members.isError && <ErrorState error={members.error} retry={members.refetch} />}
        <ul className="-my-3 divide-y divide-line">
          {members.data?.data.map((member) => (
            <MemberRow key={member.userId} member={member} />
          ))}
        </ul>
      </Card>
      {role === 'owner' && <Invitations />}
      <p className="text-sm text-soft">
        Members work with links, forms, submissions, tags and channels. Owners also invite people, make API
        keys, and rename or delete the workspace.
      </p>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}

function MemberRow({ member }: { member: MemberResource }) {
  const api = useApi()
  const client = useQueryClient()
  const { role } = useWorkspace()
  const { data: user } = useSuspenseQuery(userQuery)
  const itself = String(member.userId) === String(user?.id)
  const change = useMutation({
    mutationFn: (next: MemberResource['role']) => changeRole(api, member.userId, next),
    onSuccess: () => toast(`${member.name} has another role now`),
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
          {member.name} {itself && <Badge>You</Badge>}
        </p>
        <p className="truncate text-sm text-soft">{member.email}</p>
      </div>
      {role === 'owner' ? (
        <Field label={`Role of ${member.name}`} hideLabel className="w-32">
          {(control) => (
            <Select
              {...control}
              value={change.isPending ? change.variables : member.role}
              disabled={change.isPending}
              onChange={(event) => change.mutate(event.target.value as MemberResource['role'])}
            >
              <option value="owner">Owner</option>
              <option value="member">Member</option>
            </Select>
          )}
        </Field>
      ) : (
        <Badge>{member.role === 'owner' ? 'Owner' : 'Member'}</Badge>
      )}
      {(role === 'owner' || itself) && <RemoveButton member={member} itself={itself} />}
    </li>
  )
}

function RemoveButton({ member, itself }: { member: MemberResource; itself: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { name: workspace } = useWorkspace()
  const [asking, setAsking] = useState(false)
  async function remove() {
    await removeMember(api, member.userId)
    if (!itself) return client.invalidateQueries({ queryKey: membersQuery(api).queryKey })
    await client.fetchQuery({ ...workspacesQuery, staleTime: 0 })
    return navigate({ to: '/' })
  }
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        {itself ? 'Leave' : 'Remove'}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={itself ? `Leave ${workspace}?` : `Remove ${member.name}?`}
        action={itself ? 'Leave' : 'Remove'}
        onConfirm={remove}
      >
        <p>
          {itself
            ? 'You cannot open this workspace any more, unless somebody invites you again.'
            : `${member.email} cannot open this workspace any more. What they made stays.`}
        </p>
      </ConfirmDialog>
    </>
  )
}

function Invitations() {
  const api = useApi()
  const client = useQueryClient()
  const invitations = useQuery(invitationsQuery(api))
  const withdraw = useMutation({
    mutationFn: ({ id }: InvitationResource) => revokeInvitation(api, id),
    onSuccess: ({ email }) => toast(`The invitation for ${email} does not work any more`),
    onSettled: () => client.invalidateQueries({ queryKey: invitationsQuery(api).queryKey }),
  })
  const open = invitations.data?.data ?? []
  if (open.length === 0) return null
  return (
    <Card title="Invited">
      <ul className="-my-3 divide-y divide-line">
        {open.map((invitation) => (
          <li key={invitation.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
            <div className="min-w-0 flex-1 basis-44">
              <p className="truncate font-medium">{invitation.email}</p>
              <p className="text-sm text-soft">
                {invitation.role === 'owner' ? 'Owner' : 'Member'}, until {formatDay(invitation.expiresAt)}
              </p>
            </div>
            <Button size="small" busy={withdraw.isPending} onClick={() => withdraw.mutate(invitation)}>
              Withdraw
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  )
}
