// A menu of the workspace's channels, with an option for all of them.

import { useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Select, type SelectProps } from '../../ui/forms/select.tsx'

export function ChannelSelect(props: Omit<SelectProps, 'children' | 'options'>) {
  const channels = useQuery(channelsQuery(useApi()))
  return (
    <Select {...props} options={channels.data?.data.map(({ id, name }) => [id, name])}>
      <option value="">All channels</option>
    </Select>
  )
}
