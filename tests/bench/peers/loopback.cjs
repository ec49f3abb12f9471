// Loaded before a gateway that has no option for it: what it listens on is 127.0.0.1.
const net = require("net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  const callback = rest.find((one) => typeof one === "function");
  return listen.call(this, { port: typeof port === "object" ? port.port : port, host: "127.0.0.1" }, callback);
};
