// Assistant: what the pages of one assistant have in common: the stream follows it.

import { Outlet, useParams } from "@tanstack/react-router"
import { useFollowing } from "../live/live.ts"

export const Assistant = () => {
  const { id } = useParams({ from: "/a/$id" })
  useFollowing(id)
  return <Outlet key={id} />
}
