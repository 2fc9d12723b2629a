// The members of the workspace, as the inbox names them.

import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../../../api/workspace.ts'
import { useApi } from '../../../shell/use-workspace.ts'

export interface MemberName {
  id: number
  name: string
}

const NO_MEMBERS: MemberName[] = []

export function useMembers(): MemberName[] {
  const { data } = useQuery({ ...membersQuery(useApi()), select: toNames })
  return data ?? NO_MEMBERS
}

const toNames = ({ data }: { data: { userId: number; name: string; email: string }[] }): MemberName[] =>
  data.map(({ userId, name, email }) => ({ id: userId, name: name || email }))
