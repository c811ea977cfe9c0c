const load = (): never => {
  throw new Error("this module breaks when it is loaded")
}

export default load()
