throw new Error("this module breaks when it is loaded")
export default 1
